/// The parameters of a URI, decoded, in their order.
struct QueryParameters {
    private(set) var pairs: [(name: String, value: String)] = []

    /// - Parameters:
    ///   - bytes: a percent-encoded URI. A text that cannot be decoded is taken as it stands.
    ///   - start: the index at which the query begins, behind the `?`.
    ///   - fingerprint: takes in every parameter but the key.
    init(_ bytes: [UInt8], from start: Int, fingerprint: inout Fingerprint) {
        pairs.reserveCapacity(12)
        var index = start

        // A hostile query of thousands of parameters is cut short.
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

    /// Returns `true` when there is a parameter of this name.
    func has(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// Returns `true` when there are no parameters but these.
    func hasOnly(_ names: Set<String>) -> Bool { pairs.allSatisfy { names.contains($0.name) } }

    /// Returns all values of this name, without empty ones. A comma separates values, an encoded comma too.
    func list(_ name: String, limit: Int = 100) -> [Substring] {
        var values: [Substring] = []
        for pair in pairs where pair.name == name { values += pair.value.split(separator: ",") }
        return Array(values.prefix(limit))
    }

    /// Takes percent encoding away.
    /// - Parameter plusIsBlank: true for a query, in which a `+` stands for a blank; false for a path.
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

    /// Takes percent encoding away from a part of a path.
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
