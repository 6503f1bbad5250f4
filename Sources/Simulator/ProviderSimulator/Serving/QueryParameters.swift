internal import Basics

/// The decoded parameters of a URI, in their order.
struct QueryParameters {
    private(set) var pairs: [(name: String, value: String)] = []

    /// - Parameters:
    ///   - bytes: a percent-encoded URI. Invalid encoding is left unchanged.
    ///   - start: the index after the `?`, at which the query begins.
    ///   - fingerprint: updated with every parameter except the key.
    init(_ bytes: [UInt8], from start: Int, fingerprint: inout Fingerprint) {
        pairs.reserveCapacity(12)
        var index = start

        // Limits hostile queries with thousands of parameters.
        while index < bytes.count, pairs.count < 256 {
            var (end, equals, isEncoded) = (index, -1, false)
            while end < bytes.count, bytes[end] != UInt8(ascii: "&") {
                if equals < 0, bytes[end] == UInt8(ascii: "=") { equals = end }
                if bytes[end] == UInt8(ascii: "%") || bytes[end] == UInt8(ascii: "+") { isEncoded = true }
                end += 1
            }

            let middle = equals < 0 ? end : equals
            let name = Self.text(bytes[index..<middle], isEncoded: isEncoded)
            if name != "key" { fingerprint.combine(bytes[index..<end]) }
            if index < end { pairs.append((name, Self.text(bytes[min(middle + 1, end)..<end], isEncoded: isEncoded))) }
            index = end + 1
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>, isEncoded: Bool) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return isEncoded ? decodePath(text.replacing("+", with: " ")[...]) : text
    }

    subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// Returns `true` if there is a parameter with this name.
    func has(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// Returns all non-empty values with this name. Values are separated by commas, which may be percent-encoded.
    func list(_ name: String, limit: Int = 100) -> [Substring] {
        var values: [Substring] = []
        for pair in pairs where pair.name == name { values += pair.value.split(separator: ",") }
        return Array(values.prefix(limit))
    }

    /// Decodes percent-encoding in a part of a path. A wrongly encoded text is left unchanged.
    static func decodePath(_ text: Substring) -> String { PercentEncoding.decoded(text) ?? String(text) }
}
