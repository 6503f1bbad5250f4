/// Reads one JSON value in one pass, pulled by its caller:
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
/// Three rules hold throughout:
/// - It throws only where the bytes are no JSON. A value of another kind than asked for is skipped and read as `nil`.
/// - Each value must be read or skipped before the next key or element.
/// - All of the input is checked against RFC 8259's grammar, skipped values too. Only the inside of skipped strings is not:
///   it may hold invalid UTF-8 or half a surrogate pair, because checking it would cost more than all the rest.
///
/// A key that occurs twice is given twice, so a caller that assigns keeps the last value. A byte order mark before the value
/// is skipped. The reader works without recursion and never reads outside `bytes`, whatever they hold.
public struct JSONReader: ~Escapable {
    let input: JSONBytes
    /// The place of the next byte to read, from 0.
    public internal(set) var offset = 0
    /// The number of containers that were entered and not yet left.
    public internal(set) var depth = 0
    let maximumDepth: Int
    /// True while nothing of the innermost container was read, so that no comma is due.
    var isAtStart = false
    /// The places where texts may end.
    var index = JSONIndex()

    /// Makes a reader at the beginning of `bytes`.
    /// - Parameter maximumDepth: the number of containers allowed within each other, 1...64. More are `tooDeep`.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, maximumDepth: Int = 64) {
        input = JSONBytes(bytes)
        self.maximumDepth = min(max(maximumDepth, 1), 64)
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { offset = 3 }
    }

    /// Returns the first byte behind blanks, without consuming it.
    @inline(__always)
    mutating func token() throws(JSONError) -> UInt8 {
        offset = try input.token(from: offset)
        return input.byte(offset)
    }

    /// Reads a string, from its opening quote to behind its closing quote, and checks the shape of its escapes.
    @_lifetime(copy self)
    @inline(__always)
    mutating func scanText() throws(JSONError) -> JSONText {
        let range = try input.textRange(from: offset, using: &index)
        offset = range.end &+ 1
        return input.text(range)
    }

    /// Returns the kind of the next value, by its first byte, and consumes only blanks.
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
    /// - Returns: `false` when the value is no object, and was skipped.
    public mutating func enterObject() throws(JSONError) -> Bool { try enter(UInt8(ascii: "{")) }

    /// Enters an array. Call `nextElement()` until it returns `false`.
    /// - Returns: `false` when the value is no array, and was skipped.
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

    /// Returns the next key of the object that was entered last; `nil` once the object has ended.
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

    /// Returns `true` when the array that was entered last has another element, which must be read next.
    public mutating func nextElement() throws(JSONError) -> Bool { try advance(to: UInt8(ascii: "]")) }

    /// Moves over the comma to the next member of a container, or out of the container.
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
    /// - Parameter index: the place of its closing bracket.
    @inline(__always)
    mutating func leave(behind index: Int) {
        offset = index + 1
        depth -= 1
        isAtStart = false
    }

    /// Reads a string without making a `String`; `nil` when the value is no string.
    @_lifetime(copy self)
    public mutating func text() throws(JSONError) -> JSONText? {
        guard try token() == UInt8(ascii: "\"") else {
            try skip()
            return nil
        }
        return try scanText()
    }

    /// Reads a string; `nil` when the value is no string.
    /// - Throws: also `invalidUTF8` and `loneSurrogate` (see `JSONError.isInText`).
    public mutating func string() throws(JSONError) -> String? {
        guard let text = try text() else { return nil }
        return try text.string()
    }

    /// Reads a string and appends its UTF-8 to `target`; nothing when the value is no string. A text
    /// that is not valid is repaired, see `JSONText.repairedString()`.
    public mutating func appendText(to target: inout [UInt8]) throws(JSONError) {
        guard try token() == UInt8(ascii: "\"") else { return try skip() }

        let range = try input.textRange(from: offset, using: &index)
        offset = range.end &+ 1
        input.append(range, to: &target)
    }

    /// Reads `true` or `false`; `nil` when the value is neither.
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

    /// Skips a value of any kind and returns its place in the input, without the blanks around it.
    public mutating func skippedRange() throws(JSONError) -> Range<Int> {
        _ = try token()
        let start = offset
        try skip()
        return start..<offset
    }

    /// Checks that nothing but blanks is left. Call it last, and trust what was read before only if it does not throw.
    public mutating func finish() throws(JSONError) {
        offset = input.behindBlanks(from: offset)
        guard depth == 0 else { throw JSONError(.unexpectedEnd, at: offset) }
        guard offset == input.count else { throw JSONError(.trailingBytes, at: offset) }
    }
}

/// The kinds of JSON values.
public enum JSONKind: String, Sendable {
    case object, array, string, number, boolean, null
}
