internal import JSON

/// Which members of an answer are wanted: `a,b.c` keeps `a` and, of `b`, only `c`; of arrays, the same of each element.
final class FieldMask: Sendable {
    private struct Node: Sendable {
        var isWhole = false
        var children: [String: Node] = [:]

        mutating func insert(_ path: ArraySlice<Substring>) {
            guard let first = path.first else { return isWhole = true }
            children[String(first), default: Node()].insert(path.dropFirst())
        }
    }
    private let root: Node

    /// - Parameter separator: between the names of a path: `.` for New, `/` for legacy's `fields`.
    init(paths: [Substring], separator: Character = ".") {
        var root = Node()
        for path in paths {
            if path == "*" {
                root.isWhole = true
            } else {
                root.insert(path.split(separator: separator, maxSplits: 15)[...])
            }
        }
        self.root = root
    }

    /// - Parameter json: one JSON value of our own making.
    func applied(to json: [UInt8]) -> [UInt8] {
        guard !root.isWhole else { return json }
        var writer = JSONWriter(capacity: json.count)
        var reader = JSONReader(json.span)
        guard (try? Self.copy(&reader, root, json, &writer)) != nil else { return json }
        return writer.finish()
    }

    private static func copy(
        _ reader: inout JSONReader, _ node: Node, _ json: [UInt8], _ writer: inout JSONWriter
    ) throws(JSONError) {
        let kind = try reader.kind()
        if node.isWhole || kind != .object && kind != .array {
            let range = try reader.skippedRange()
            return writer.value(json: json.span.extracting(range))
        }
        if kind == .array {
            _ = try reader.enterArray()
            writer.beginArray()
            while try reader.nextElement() { try copy(&reader, node, json, &writer) }
            return writer.endArray()
        }
        _ = try reader.enterObject()
        writer.beginObject()
        while let key = try reader.nextKey() {
            let name = try key.string()
            guard let child = node.children[name] else {
                try reader.skip()
                continue
            }
            writer.key(name)
            try copy(&reader, child, json, &writer)
        }
        writer.endObject()
    }
}
