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
        isEncoded ? decode(bytes, plusIsBlank: true) : String(decoding: bytes, as: UTF8.self)
    }

    subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// Returns `true` if there is a parameter with this name.
    func has(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// Returns `true` if there are no parameters with other names.
    func hasOnly(_ names: Set<String>) -> Bool { pairs.allSatisfy { names.contains($0.name) } }

    /// Returns all non-empty values with this name. Values are separated by commas, which may be percent-encoded.
    func list(_ name: String, limit: Int = 100) -> [Substring] {
        var values: [Substring] = []
        for pair in pairs where pair.name == name { values += pair.value.split(separator: ",") }
        return Array(values.prefix(limit))
    }

    /// Decodes percent-encoding.
    /// - Parameter plusIsBlank: true for a query, in which `+` means a blank; false for a path.
    static func decode(_ bytes: some Collection<UInt8>, plusIsBlank: Bool) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+"), plusIsBlank {
                decoded.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let high = rest.first?.hexValue,
                let low = rest.dropFirst().first?.hexValue
            {
                decoded.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }

        return String(decoding: decoded, as: UTF8.self)
    }

    /// Decodes percent-encoding in a part of a path.
    static func decodePath(_ text: Substring) -> String { decode(text.utf8, plusIsBlank: false) }
}

extension UInt8 {
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
