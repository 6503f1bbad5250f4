/// Base64 (RFC 4648) without line breaks.
public enum Base64 {
    /// Characters for the values 62 and 63, and how a text ends.
    public enum Alphabet: Sendable {
        /// Section 4: `+` and `/`, padded with `=` to a multiple of four characters.
        case standard
        /// Section 5: `-` and `_`, not padded. Each character may stand in a URL as it is.
        case url
    }

    private static let standardCharacters = characters(endingWith: "+/")
    private static let urlCharacters = characters(endingWith: "-_")

    private static func characters(endingWith lastTwo: String) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(lastTwo)".utf8)
    }

    /// Decodes strictly: padding must be as the alphabet has it, and unused bits must be 0.
    /// - Returns: `nil` when the text is no Base64 of that alphabet.
    public static func decode(_ text: some Sequence<UInt8>, _ alphabet: Alphabet = .standard) -> [UInt8]? {
        var (bytes, bits, pending, padding, count) = ([UInt8](), 0 as UInt32, 0, 0, 0)
        for character in text {
            count += 1
            if character == UInt8(ascii: "="), alphabet == .standard {
                padding += 1
                continue
            }

            guard padding == 0, let value = value(of: character, alphabet) else { return nil }
            bits = bits << 6 | UInt32(truncatingIfNeeded: value)
            pending += 6
            if pending >= 8 {
                pending -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> pending))
            }
        }

        // One left-over character holds 6 bits, which is less than a byte; two leave 4 unused bits, three leave 2.
        let unusedBits = bits & ((1 << pending) - 1)
        guard pending < 6, unusedBits == 0 else { return nil }
        switch alphabet {
        case .standard: return count.isMultiple(of: 4) && padding * 2 == pending ? bytes : nil
        case .url: return bytes
        }
    }

    private static func value(of character: UInt8, _ alphabet: Alphabet) -> UInt8? {
        switch (character, alphabet) {
        case (UInt8(ascii: "A")...UInt8(ascii: "Z"), _): character - UInt8(ascii: "A")
        case (UInt8(ascii: "a")...UInt8(ascii: "z"), _): character - UInt8(ascii: "a") + 26
        case (UInt8(ascii: "0")...UInt8(ascii: "9"), _): character - UInt8(ascii: "0") + 52
        case (UInt8(ascii: "+"), .standard), (UInt8(ascii: "-"), .url): 62
        case (UInt8(ascii: "/"), .standard), (UInt8(ascii: "_"), .url): 63
        default: nil
        }
    }

    /// Appends the character of a URL's alphabet for each six bits of a number, the highest first.
    /// - Parameter count: the number of characters, at most 10.
    public static func appendURLCharacters(of bits: UInt64, count: Int, to text: inout [UInt8]) {
        let characters = urlCharacters
        var rest = bits &<< UInt64(64 - 6 * count)
        text.append(addingCapacity: count) { room in
            for _ in 0..<count {
                room.append(characters[Int(rest >> 58)])
                rest &<<= 6
            }
        }
    }

    /// Encodes bytes as text of that alphabet.
    public static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard) -> String {
        let characters = alphabet == .standard ? standardCharacters : urlCharacters
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)

        var start = 0
        while start < bytes.count {
            let count = min(3, bytes.count - start)
            var bits = Int(bytes[start]) << 16
            if count > 1 { bits |= Int(bytes[start + 1]) << 8 }
            if count > 2 { bits |= Int(bytes[start + 2]) }
            start += 3

            for index in 0..<4 {
                if index <= count {
                    text.append(characters[bits >> (18 - 6 * index) & 63])
                } else if alphabet == .standard {
                    text.append(UInt8(ascii: "="))
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
