/// Why bytes are not valid JSON (RFC 8259), and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors. The raw value is a text for messages.
    public enum Kind: String, Sendable, CaseIterable {
        /// The input ends within a value.
        case unexpectedEnd = "ends within a value"
        /// A byte is invalid after the bytes before it.
        case unexpectedByte = "unexpected byte"
        /// A backslash is followed by none of `"\/bfnrt` or `u` with four hexadecimal digits.
        case invalidEscape = "invalid escape"
        /// A string contains a byte below 0x20.
        case controlCharacter = "control character in a string"
        /// A number is written like `01`, `1.`, `.5`, `+1` or `1e`.
        case invalidNumber = "invalid number"
        /// A requested string contains half of a surrogate pair.
        case loneSurrogate = "half of a surrogate pair"
        /// A requested string is not UTF-8.
        case invalidUTF8 = "invalid UTF-8"
        /// Containers are nested more deeply than the reader allows.
        case tooDeep = "nested too deeply"
        /// The value is followed by something other than blanks.
        case trailingBytes = "more after the value"
    }

    /// The kind of the error.
    public let kind: Kind
    /// The offset of the first invalid byte, from 0. For `loneSurrogate` and `invalidUTF8`, the beginning of the
    /// string.
    public let offset: Int

    /// Makes an error, for the reader.
    public init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// True if only the text of one string is invalid. The reader is then after that string, and reading can continue.
    public var isInText: Bool { kind == .loneSurrogate || kind == .invalidUTF8 }

    /// One line for operators, without any bytes of the input.
    public var description: String { "\(kind.rawValue) at byte \(offset)" }
}
