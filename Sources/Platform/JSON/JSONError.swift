/// The reason why some bytes are no JSON (RFC 8259), and the place where that shows.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of faults. The raw value is a text for people.
    public enum Kind: String, Sendable, CaseIterable {
        /// The input ends within a value.
        case unexpectedEnd = "ends within a value"
        /// A byte does not fit what comes before it.
        case unexpectedByte = "unexpected byte"
        /// A backslash is followed by none of `"\/bfnrt` or `u` with four hexadecimal digits.
        case invalidEscape = "invalid escape"
        /// A string holds a byte below 0x20.
        case controlCharacter = "control character in a string"
        /// A number is written like `01`, `1.`, `.5`, `+1` or `1e`.
        case invalidNumber = "invalid number"
        /// A string that was asked for holds half of a surrogate pair.
        case loneSurrogate = "half of a surrogate pair"
        /// A string that was asked for is not UTF-8.
        case invalidUTF8 = "invalid UTF-8"
        /// There are more containers within each other than the reader allows.
        case tooDeep = "nested too deeply"
        /// Something other than blanks comes after the value.
        case trailingBytes = "more after the value"
    }

    /// The fault.
    public let kind: Kind
    /// The place of the first byte at fault, from 0. For `loneSurrogate` and `invalidUTF8`, it is the beginning of the string.
    public let offset: Int

    /// Makes an error; the reader does.
    public init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// True when only the text of one string is at fault. The reader is then behind that string, and reading can go on.
    public var isInText: Bool { kind == .loneSurrogate || kind == .invalidUTF8 }

    /// One line for a person, which holds none of the bytes.
    public var description: String { "\(kind.rawValue) at byte \(offset)" }
}
