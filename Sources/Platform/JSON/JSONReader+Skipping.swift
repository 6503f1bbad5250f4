extension JSONReader {
    /// Skips a value of any kind, and checks its grammar.
    @inline(__always)
    public mutating func skip() throws(JSONError) {
        offset = try skipValue(at: offset, in: JSONBytes(input.bytes))
    }

    /// Skips the value that begins at `start`, after optional blanks.
    /// - Returns: The index after the value.
    @inline(__always)
    mutating func skipValue(at start: Int, in input: borrowing JSONBytes) throws(JSONError) -> Int {
        let place = try input.token(from: start)
        if input.byte(place) == UInt8(ascii: "\"") { return try input.textRange(from: place, using: &index).end &+ 1 }
        return try skipOther(at: place)
    }

    @inline(never)
    private mutating func skipOther(at place: Int) throws(JSONError) -> Int {
        offset = place
        let byte = input.byte(place)
        if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { try skipContainer() } else { try skipWord(byte) }
        return offset
    }

    /// Skips an object or array with all its contents.
    ///
    /// The open brackets are stored as bits, 1 for an object, the innermost in the lowest bit. So 64 levels fit into
    /// one word, and no recursion is needed.
    private mutating func skipContainer() throws(JSONError) {
        var (open, level) = (0 as UInt64, 0)
        let input = JSONBytes(input.bytes)
        var (index, next) = (offset, Expected.value)

        repeat {
            switch next {
            case .value:
                index = try input.token(from: index)
                let byte = input.byte(index)
                switch byte {
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    guard depth &+ level < maximumDepth else { throw JSONError(.tooDeep, at: index) }
                    let isObject = byte == UInt8(ascii: "{")
                    open = open << 1 | (isObject ? 1 : 0)
                    level &+= 1
                    index = try input.token(from: index &+ 1)
                    next = input.byte(index) == Self.end(of: open) ? .end : isObject ? .key : .value
                case UInt8(ascii: "\""):
                    index = try input.textRange(from: index, using: &self.index).end &+ 1
                    next = .end
                default:
                    offset = index
                    try skipWord(byte)
                    index = offset
                    next = .end
                }

            case .key: (index, next) = try skipKey(at: index, in: input)

            case .end:
                index = try input.token(from: index)
                if input.byte(index) == UInt8(ascii: ",") {
                    index &+= 1
                    next = open & 1 == 1 ? .key : .value
                } else {
                    guard input.byte(index) == Self.end(of: open) else { throw JSONError(.unexpectedByte, at: index) }
                    index &+= 1
                    open >>= 1
                    level &-= 1
                }
            }
        } while level > 0
        offset = index
    }

    /// Skips a key, and its value if the input is compact and the value is a string.
    @inline(__always)
    private mutating func skipKey(
        at start: Int, in input: borrowing JSONBytes
    ) throws(JSONError) -> (index: Int, next: Expected) {
        let key = try input.key(from: start)
        let end = index.special(from: key &+ 1, in: input.bytes)
        if end &+ 4 <= input.count,
            input.holds(UInt8(ascii: "\""), then: UInt8(ascii: ":"), then: UInt8(ascii: "\""), at: end)
        {
            return (try input.textRange(from: end &+ 2, using: &index).end &+ 1, .end)
        }
        let close = try input.textRange(from: key, endingAt: end, using: &index).end
        return (try input.behindColon(from: close), .value)
    }

    /// The token that must follow, after optional blanks.
    private enum Expected {
        case value
        case key
        /// A comma, or the end of the container.
        case end
    }

    @inline(__always)
    private static func end(of open: UInt64) -> UInt8 { open & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]") }

    /// Skips `true`, `false`, `null` or a number.
    private mutating func skipWord(_ first: UInt8) throws(JSONError) {
        switch first {
        case UInt8(ascii: "t"): try skip("true")
        case UInt8(ascii: "f"): try skip("false")
        case UInt8(ascii: "n"): try skip("null")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): offset = try input.number(from: offset).end
        default: throw JSONError(.unexpectedByte, at: offset)
        }
    }

    private mutating func skip(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard offset < input.count else { throw JSONError(.unexpectedEnd, at: offset) }
            // Safe: `index` is within the word.
            guard unsafe input.byte(offset) == word.utf8Start[index] else {
                throw JSONError(.unexpectedByte, at: offset)
            }
            offset += 1
        }
    }
}
