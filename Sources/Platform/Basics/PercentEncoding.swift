/// Percent-encoding (RFC 3986) for one path segment or one query value: all except unreserved characters become `%XX`.
public enum PercentEncoding {
    public static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the encoded text to ASCII bytes.
    @inlinable
    public static func append(_ text: String, to bytes: inout [UInt8]) {
        // A span reads the text in place, which takes a third of the instructions of the view's iterator.
        let text = text.utf8.span
        bytes.append(addingCapacity: 3 * text.count) { room in
            for index in text.indices {
                let byte = text[index]
                if isUnreserved(byte) {
                    room.append(byte)
                } else {
                    room.append(UInt8(ascii: "%"))
                    room.append(hexadecimal(byte >> 4))
                    room.append(hexadecimal(byte & 15))
                }
            }
        }
    }

    /// Returns the decoded text; `nil` if a `%` is not followed by two digits or the result is not UTF-8.
    public static func decoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8

        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    @inlinable
    static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }

    /// Returns whether a character may appear unescaped anywhere in a URL: letters, digits and `-._~`.
    @inlinable
    public static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit; `nil` for any other character.
    package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
