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
/// Three rules hold throughout. It throws only where the bytes are no JSON; a value of another kind than asked for is
/// skipped and read as `nil`. Each value must be read or skipped before the next key or element. All of the input is
/// checked against RFC 8259's grammar, skipped values included, but for the inside of skipped strings: those may hold
/// invalid UTF-8 or half a surrogate pair (checking them would cost more than all the rest).
///
/// Duplicate keys are all handed over: who assigns keeps the last. A byte order mark before the value is skipped.
/// Works without recursion; never reads outside `bytes`, whatever they hold.
public struct JSONReader: ~Escapable {
    let input: JSONBytes
    /// Of the next byte to read, from 0.
    public internal(set) var offset = 0
    /// Containers entered and not yet left.
    public internal(set) var depth = 0
    let maximumDepth: Int
    /// Nothing of the innermost container was read yet, so no comma is due.
    var isAtStart = false
    /// Where texts end, as far as was looked.
    var block = JSONBlock()

    /// - Parameter maximumDepth: containers within each other, 1...64; more are `tooDeep`.
    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>, maximumDepth: Int = 64) {
        input = JSONBytes(bytes)
        self.maximumDepth = min(max(maximumDepth, 1), 64)
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { offset = 3 }
    }

    /// The first byte behind blanks, not consumed.
    @inline(__always)
    mutating func token() throws(JSONError) -> UInt8 {
        offset = try input.token(from: offset)
        return input.byte(offset)
    }

    /// Reads a string, from its opening quote to behind its closing one, and checks its escapes' shape.
    @_lifetime(copy self)
    @inline(__always)
    mutating func scanText() throws(JSONError) -> JSONText {
        let range = try input.textRange(from: offset, &block)
        offset = range.end &+ 1
        return input.text(range)
    }

    /// The kind of the next value, told by its first byte; nothing is consumed but blanks.
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

    /// Enters an object: call `nextKey()` until it gives `nil`.
    /// - Returns: `false` when the value is no object; it was skipped.
    public mutating func enterObject() throws(JSONError) -> Bool { try enter(UInt8(ascii: "{")) }

    /// Enters an array: call `nextElement()` until it gives `false`.
    /// - Returns: `false` when the value is no array; it was skipped.
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

    /// The next key of the object that was entered last; `nil` once the object has ended.
    @_lifetime(copy self)
    public mutating func nextKey() throws(JSONError) -> JSONText? {
        guard try advance(to: UInt8(ascii: "}")) else { return nil }
        let key = try input.textRange(from: input.key(from: offset), &block)
        offset = try input.behindColon(from: key.end)
        return input.text(key)
    }

    /// Whether the array that was entered last has another element, to be read now.
    public mutating func nextElement() throws(JSONError) -> Bool { try advance(to: UInt8(ascii: "]")) }

    /// Moves to the next member of a container, over the comma, or out of it.
    @inline(__always)
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

    /// - Parameter index: of the closing bracket.
    @inline(__always)
    mutating func leave(behind index: Int) {
        offset = index + 1
        depth -= 1
        isAtStart = false
    }

    /// A string where it stands; `nil` when the value is none.
    @_lifetime(copy self)
    public mutating func text() throws(JSONError) -> JSONText? {
        guard try token() == UInt8(ascii: "\"") else {
            try skip()
            return nil
        }
        return try scanText()
    }

    /// A string; `nil` when the value is none.
    /// - Throws: `invalidUTF8` and `loneSurrogate` too (see `JSONError.isInText`).
    public mutating func string() throws(JSONError) -> String? {
        guard let text = try text() else { return nil }
        return try text.string()
    }

    /// Appends a string's text to others, as valid UTF-8; nothing when the value is no string, or no valid text.
    public mutating func appendText(to target: inout [UInt8]) throws(JSONError) {
        guard try token() == UInt8(ascii: "\"") else { return try skip() }
        let range = try input.textRange(from: offset, &block)
        offset = range.end &+ 1
        input.text(range).append(to: &target)
    }

    /// `true` or `false`; `nil` when the value is neither.
    public mutating func bool() throws(JSONError) -> Bool? {
        let first = try token()
        try skip()
        return first == UInt8(ascii: "t") ? true : first == UInt8(ascii: "f") ? false : nil
    }

    /// Consumes the value if it is `null`.
    public mutating func skipNull() throws(JSONError) -> Bool {
        guard try token() == UInt8(ascii: "n") else { return false }
        try skip()
        return true
    }

    /// Skips a value of any kind.
    /// - Returns: where it stands in the input, blanks around it left out.
    public mutating func skippedRange() throws(JSONError) -> Range<Int> {
        _ = try token()
        let start = offset
        try skip()
        return start..<offset
    }

    /// Checks that nothing but blanks is left. Call it last: what was read before counts only then.
    public mutating func finish() throws(JSONError) {
        offset = input.behindBlanks(from: offset)
        guard depth == 0 else { throw JSONError(.unexpectedEnd, at: offset) }
        guard offset == input.count else { throw JSONError(.trailingBytes, at: offset) }
    }
}

/// What a JSON value is.
public enum JSONKind: String, Sendable {
    case object, array, string, number, boolean, null
}
