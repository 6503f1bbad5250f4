/// Base64 (RFC 4648) without line breaks.
public enum Base64 {
    /// The characters for the values 62 and 63, and the padding.
    public enum Alphabet: Sendable {
        /// Section 4: `+` and `/`, padded with `=` to a multiple of four characters.
        case standard
        /// Section 5: `-` and `_`, without padding. All characters may appear unescaped in a URL.
        case url
    }

    /// The 64 characters of an alphabet, and the value of each byte: 64 or more for bytes that are not in the alphabet.
    private struct Table {
        let characters: [UInt8]
        let values: [UInt8]

        init(endingWith lastTwo: String) {
            characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(lastTwo)".utf8)
            var values = [UInt8](repeating: .max, count: 256)
            for (value, character) in characters.enumerated() {
                values[Int(character)] = UInt8(truncatingIfNeeded: value)
            }
            self.values = values
        }
    }

    private static let standard = Table(endingWith: "+/")
    private static let url = Table(endingWith: "-_")

    /// Decodes strictly: padding must match the alphabet, and unused bits must be 0.
    /// - Returns: `nil` if the text is not Base64 of that alphabet.
    public static func decode(_ text: some StringProtocol, as alphabet: Alphabet = .standard) -> [UInt8]? {
        let text = String(text)
        return decode(text.utf8.span, as: alphabet)
    }

    private static func decode(_ text: Span<UInt8>, as alphabet: Alphabet) -> [UInt8]? {
        var end = text.count
        if alphabet == .standard {
            guard end.isMultiple(of: 4) else { return nil }
            let shortest = end - min(2, end)
            while end > shortest, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        }

        let values = alphabet == .standard ? standard.values : url.values
        var (bits, pending, all) = (0 as UInt32, 0, 0 as UInt8)
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: end * 3 / 4) { room in
            for index in 0..<end {
                let character = text[index]
                let value = values[Int(character)]
                all |= value
                bits = bits << 6 | UInt32(truncatingIfNeeded: value & 63)
                pending += 6
                if pending >= 8 {
                    pending -= 8
                    room.append(UInt8(truncatingIfNeeded: bits >> pending))
                }
            }
        }

        // One left-over character has 6 bits, which is less than a byte; two leave 4 unused bits, three leave 2.
        let unusedBits = bits & ((1 << pending) - 1)
        return all < 64 && pending < 6 && unusedBits == 0 ? bytes : nil
    }

    /// Appends one character of the URL alphabet for each six bits of a number, the highest bits first.
    /// - Parameter count: The number of characters, at most 10.
    public static func appendURLCharacters(of bits: UInt64, count: Int, to text: inout [UInt8]) {
        let characters = url.characters
        var rest = bits &<< UInt64(64 - 6 * count)
        text.append(addingCapacity: count) { room in
            for _ in 0..<count {
                room.append(characters[Int(rest >> 58)])
                rest &<<= 6
            }
        }
    }

    /// Encodes bytes as text of the given alphabet.
    public static func encode(_ bytes: [UInt8], as alphabet: Alphabet = .standard) -> String {
        let characters = alphabet == .standard ? standard.characters : url.characters
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
