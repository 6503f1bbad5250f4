import JSON

/// Reads a settings file in JSON.
enum JSONSettings {
    private static let maxDepth = 16

    /// - Throws: `SettingsError` that states file, line, column and cause.
    static func read(_ text: String, path: String) throws(SettingsError) -> SettingsNode {
        let bytes = Array(text.utf8)
        do throws(JSONError) {
            var reader = JSONReader(bytes.span, maximumDepth: maxDepth)
            let node = try node(&reader, in: bytes)
            try reader.finish()
            return node
        } catch {
            let before = bytes.prefix(error.offset)
            let column = before.count - (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
            throw SettingsError(
                "the settings file \(path) is not valid JSON: \(error.kind.rawValue) "
                    + "on line \(line(at: error.offset, in: bytes)), column \(column)")
        }
    }

    private static func node(
        _ reader: inout JSONReader, in bytes: [UInt8]
    ) throws(JSONError) -> SettingsNode {
        switch try reader.kind() {
        case .object: return .mapping(try members(&reader, in: bytes))
        case .array: return .list(try elements(&reader, in: bytes))
        case .string: return .text(try reader.string() ?? "")
        case .number, .boolean:
            let range = try reader.skippedRange()
            return .text(String(decoding: bytes[range], as: UTF8.self))
        case .null:
            try reader.skip()
            return .nothing
        }
    }

    private static func members(
        _ reader: inout JSONReader, in bytes: [UInt8]
    ) throws(JSONError) -> [SettingsNode.Member] {
        guard try reader.enterObject() else { return [] }

        var members: [SettingsNode.Member] = []
        while let name = try reader.nextKey()?.string() {
            let line = line(at: reader.offset, in: bytes)
            members.append(SettingsNode.Member(name: name, line: line, value: try node(&reader, in: bytes)))
        }
        return members
    }

    private static func elements(
        _ reader: inout JSONReader, in bytes: [UInt8]
    ) throws(JSONError) -> [SettingsNode] {
        guard try reader.enterArray() else { return [] }

        var elements: [SettingsNode] = []
        while try reader.nextElement() { elements.append(try node(&reader, in: bytes)) }
        return elements
    }

    private static func line(at offset: Int, in bytes: [UInt8]) -> Int {
        bytes.prefix(offset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    }
}
