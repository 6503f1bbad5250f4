/// A single-pass pull reader for one JSON value:
///
///     var reader = JSONReader(bytes)
///     guard try reader.enterObject() else { ... }        // something else: it was skipped
///     while let key = try reader.nextKey() {
///         switch key {
///         case "name": name = try reader.string()        // nil: not a string, it was skipped
///         case "tags": try readTags(&reader)
///         default: try reader.skip()
///         }
///     }
///     try reader.finish()                                 // nothing may follow
///
/// Three rules apply to all methods:
/// - They throw only if the bytes are not JSON. A value of another kind than requested is skipped and read as `nil`.
/// - Each value must be read or skipped before the next key or element.
/// - The whole input is checked against RFC 8259's grammar, including skipped values. Only the contents of skipped
///   strings are not checked, because that would cost more than all other checks. They may contain invalid UTF-8 or
///   half a surrogate pair.
///
/// A duplicate key is returned twice, so a caller that assigns keeps the last value. A byte order mark before the value
/// is skipped. The reader uses no recursion, and never reads outside `bytes`, whatever their content.
public struct JSONReader: ~Escapable {
    let input: JSONBytes
    /// The offset of the next byte to read, from 0.
    public internal(set) var offset = 0
    /// The number of containers entered and not yet left.
    public internal(set) var depth = 0
    let maximumDepth: Int
    /// True before the first member of the innermost container, where no comma is expected.
    var isAtStart = false
    /// The positions at which texts may end.
    var index = JSONIndex()

    /// Makes a reader at the beginning of `bytes`.
    /// - Parameter maximumDepth: The maximum nesting depth of containers, 1...64. Deeper input fails with `tooDeep`.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, maximumDepth: Int = 64) {
        input = JSONBytes(bytes)
        self.maximumDepth = min(max(maximumDepth, 1), 64)
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { offset = 3 }
    }

    /// Returns the first byte that is not a blank, without consuming it.
    @inline(__always)
    mutating func token() throws(JSONError) -> UInt8 {
        offset = try input.token(from: offset)
        return input.byte(offset)
    }

    /// Reads a string including its quotes, and checks the syntax of its escapes.
    @_lifetime(copy self)
    @inline(__always)
    mutating func scanText() throws(JSONError) -> JSONText {
        let range = try input.textRange(from: offset, using: &index)
        offset = range.end &+ 1
        return input.text(range)
    }

    /// Returns the kind of the next value, determined by its first byte. Consumes only blanks.
    public mutating func kind() throws(JSONError) -> JSONKind {
        switch try token() {
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "\""): .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
        case UInt8(ascii: "n"): .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
        default: throw JSONError(.unexpectedByte, at: offset)
        }
    }

    /// Enters an object. Call `nextKey()` until it returns `nil`.
    /// - Returns: `false` if the value was not an object and was skipped.
    public mutating func enterObject() throws(JSONError) -> Bool { try enter(UInt8(ascii: "{")) }

    /// Enters an array. Call `nextElement()` until it returns `false`.
    /// - Returns: `false` if the value was not an array and was skipped.
    public mutating func enterArray() throws(JSONError) -> Bool { try enter(UInt8(ascii: "[")) }

    private mutating func enter(_ bracket: UInt8) throws(JSONError) -> Bool {
        guard try token() == bracket else {
            try skip()
            return false
        }

        guard depth < maximumDepth else { throw JSONError(.tooDeep, at: offset) }
        offset += 1
        depth += 1
        isAtStart = true
        return true
    }

    /// Returns the next key of the innermost entered object; `nil` at the end of the object.
    @_lifetime(copy self)
    public mutating func nextKey() throws(JSONError) -> JSONText? {
        // In compact input the next key follows at once.
        if isAtStart || !input.holds(UInt8(ascii: ","), then: UInt8(ascii: "\""), at: offset) {
            guard try advance(to: UInt8(ascii: "}")) else { return nil }
            offset = try input.key(from: offset)
        } else {
            offset &+= 1
        }

        let key = try input.textRange(from: offset, using: &index)
        offset = try input.behindColon(from: key.end)
        return input.text(key)
    }

    /// Returns whether the innermost entered array has another element, which must be read next.
    public mutating func nextElement() throws(JSONError) -> Bool { try advance(to: UInt8(ascii: "]")) }

    /// Moves past the comma to the next member of a container, or out of the container.
    private mutating func advance(to end: UInt8) throws(JSONError) -> Bool {
        let byte = try token()
        if byte == end {
            leave(behind: offset)
            return false
        }
        if isAtStart {
            isAtStart = false
        } else {
            guard byte == UInt8(ascii: ",") else { throw JSONError(.unexpectedByte, at: offset) }
            offset += 1
        }
        return true
    }

    /// Leaves the innermost container.
    /// - Parameter index: The index of its closing bracket.
    @inline(__always)
    mutating func leave(behind index: Int) {
        offset = index + 1
        depth -= 1
        isAtStart = false
    }

    /// Reads a string without creating a `String`; `nil` if the value is not a string.
    @_lifetime(copy self)
    public mutating func text() throws(JSONError) -> JSONText? {
        guard try token() == UInt8(ascii: "\"") else {
            try skip()
            return nil
        }
        return try scanText()
    }

    /// Reads a string; `nil` if the value is not a string.
    /// - Throws: Also `invalidUTF8` and `loneSurrogate` (see `JSONError.isInText`).
    public mutating func string() throws(JSONError) -> String? {
        guard let text = try text() else { return nil }
        return try text.string()
    }

    /// Reads a string and appends its UTF-8 to `target`; appends nothing if the value is not a string. An invalid text
    /// is repaired, see `JSONText.repairedString()`.
    public mutating func appendText(to target: inout [UInt8]) throws(JSONError) {
        guard try token() == UInt8(ascii: "\"") else { return try skip() }

        let range = try input.textRange(from: offset, using: &index)
        offset = range.end &+ 1
        input.append(range, to: &target)
    }

    /// Reads `true` or `false`; `nil` if the value is neither.
    public mutating func bool() throws(JSONError) -> Bool? {
        let first = try token()
        try skip()
        return first == UInt8(ascii: "t") ? true : first == UInt8(ascii: "f") ? false : nil
    }

    /// Consumes the value if it is `null`, and returns whether it was.
    public mutating func skipNull() throws(JSONError) -> Bool {
        guard try token() == UInt8(ascii: "n") else { return false }
        try skip()
        return true
    }

    /// Skips a value of any kind and returns its range in the input, without surrounding blanks.
    public mutating func skippedRange() throws(JSONError) -> Range<Int> {
        _ = try token()
        let start = offset
        try skip()
        return start..<offset
    }

    /// Checks that only blanks are left. Call it last: the values read before are valid only if it does not throw.
    public mutating func finish() throws(JSONError) {
        offset = input.behindBlanks(from: offset)
        guard depth == 0 else { throw JSONError(.unexpectedEnd, at: offset) }
        guard offset == input.count else { throw JSONError(.trailingBytes, at: offset) }
    }
}

public enum JSONKind: String, Sendable {
    case object, array, string, number, boolean, null
}
