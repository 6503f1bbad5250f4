/// Why bytes are no JSON (RFC 8259), and where that shows.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable, CaseIterable {
        /// The input ends within a value.
        case unexpectedEnd = "ends within a value"
        /// A byte that cannot stand here.
        case unexpectedByte = "unexpected byte"
        /// A backslash followed by none of `"\/bfnrt` or `u` with four hexadecimal digits.
        case invalidEscape = "invalid escape"
        /// A byte below 0x20 within a string.
        case controlCharacter = "control character in a string"
        /// `01`, `1.`, `.5`, `+1`, `1e` and the like.
        case invalidNumber = "invalid number"
        /// Half of a surrogate pair in a string that was asked for.
        case loneSurrogate = "half of a surrogate pair"
        /// A string that was asked for is not UTF-8.
        case invalidUTF8 = "invalid UTF-8"
        /// More containers within each other than the reader allows.
        case tooDeep = "nested too deeply"
        /// Something other than blanks after the value.
        case trailingBytes = "more after the value"
    }

    public let kind: Kind
    /// Of the first byte at fault, from 0. For `loneSurrogate` and `invalidUTF8`: where the string begins.
    public let offset: Int

    public init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// Whether only the text of one string is at fault. The reader then stands behind that string, and reading can go on.
    public var isInText: Bool { kind == .loneSurrogate || kind == .invalidUTF8 }

    public var description: String { "\(kind.rawValue) at byte \(offset)" }
}
