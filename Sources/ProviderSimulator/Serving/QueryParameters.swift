/// The parameters of a URI, decoded, in their order.
struct QueryParameters {
    private(set) var pairs: [(name: String, value: String)] = []

    /// - Parameters:
    ///   - query: what stands behind `?`, percent-encoded. Whatever cannot be decoded is taken as it stands.
    ///   - fingerprint: takes in all but the key.
    init(_ query: Substring, fingerprint: inout Fingerprint) {
        // Hostile queries of thousands of empty parameters are cut short.
        for part in query.split(separator: "&", maxSplits: 255) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.decode(pair[0])
            if name != "key" { fingerprint.combine(part.utf8) }
            pairs.append((name, pair.count == 2 ? Self.decode(pair[1]) : ""))
        }
    }

    /// The first of this name.
    subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

    func has(_ name: String) -> Bool { pairs.contains { $0.name == name } }

    /// All values of this name, also separated by commas (an encoded one separates too); no empty ones.
    func list(_ name: String, limit: Int = 100) -> [Substring] {
        var values: [Substring] = []
        for pair in pairs where pair.name == name { values += pair.value.split(separator: ",") }
        return Array(values.prefix(limit))
    }

    static func decode(_ text: Substring) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(text)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let high = rest.first?.hexValue,
                let low = rest.dropFirst().first?.hexValue
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension QueryParameters {
    /// A part of a path, where `+` is no blank.
    static func decodePath(_ text: Substring) -> String {
        text.utf8.contains(UInt8(ascii: "%")) ? decode(Substring(text.replacing("+", with: "%2B"))) : String(text)
    }
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
