/// Base64 with `-` and `_` and without padding (RFC 4648, section 5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(truncatingIfNeeded: value) }
        return values
    }()

    /// Returns the text of some bytes.
    static func encode(_ bytes: [UInt8]) -> String {
        var letters: [UInt8] = []
        letters.reserveCapacity(bytes.count * 4 / 3 + 2)
        var (bits, count) = (0 as UInt32, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                letters.append(alphabet[Int(bits >> count & 63)])
            }
        }
        if count > 0 { letters.append(alphabet[Int(bits << (6 - count) & 63)]) }
        return String(decoding: letters, as: UTF8.self)
    }

    /// Returns the bytes of a text; `nil` when a character is not in the alphabet.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var (bits, count) = (0 as UInt32, 0)
        for letter in text.utf8 {
            let value = values[Int(letter)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }

        return bytes
    }
}
