extension JSONReader {
    /// Skips a value of any kind, checking its grammar.
    @inline(__always)
    public mutating func skip() throws(JSONError) {
        let index = try input.token(from: offset)
        if input.byte(index) == UInt8(ascii: "\"") {
            offset = try input.textRange(from: index, &block).end &+ 1
        } else {
            offset = index
            try skipOther()
        }
    }

    @inline(never)
    mutating func skipOther() throws(JSONError) {
        let byte = input.byte(offset)
        if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { try skipContainer() } else { try skipWord(byte) }
    }

    /// Skips an object or array with all within it. Which brackets are open is kept as bits, 1 for an object, the
    /// innermost lowest: 64 levels in one word, no recursion.
    private mutating func skipContainer() throws(JSONError) {
        var (open, level) = (0 as UInt64, 0)
        let input = JSONBytes(input.bytes)
        var (index, block) = (offset, block)
        repeat {
            index = try input.token(from: index)
            let byte = input.byte(index)
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth + level < maximumDepth else { throw JSONError(.tooDeep, at: index) }
                let isObject = byte == UInt8(ascii: "{")
                open = open << 1 | (isObject ? 1 : 0)
                level += 1
                index = try input.token(from: index &+ 1)
                if input.byte(index) != Self.end(of: open) {
                    if isObject { _ = try input.keyRange(at: &index, &block) }
                    continue
                }
            case UInt8(ascii: "\""):
                index = try input.textRange(from: index, &block).end &+ 1
            default:
                offset = index
                try skipWord(byte)
                index = offset
            }
            try Self.leaveContainers(input, &index, &block, &open, &level)
        } while level > 0
        (offset, self.block) = (index, block)
    }

    /// Behind a value: over the comma (and the key) to the next one, leaving every container that ends before it.
    @inline(__always)
    private static func leaveContainers(
        _ input: borrowing JSONBytes, _ index: inout Int, _ block: inout JSONBlock, _ open: inout UInt64,
        _ level: inout Int
    ) throws(JSONError) {
        while level > 0 {
            index = try input.token(from: index)
            if input.byte(index) == UInt8(ascii: ",") {
                index = try input.token(from: index &+ 1)
                if open & 1 == 1 { _ = try input.keyRange(at: &index, &block) }
                return
            }
            guard input.byte(index) == end(of: open) else { throw JSONError(.unexpectedByte, at: index) }
            index &+= 1
            open >>= 1
            level -= 1
        }
    }

    @inline(__always)
    private static func end(of open: UInt64) -> UInt8 { open & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]") }

    /// Skips `true`, `false`, `null` or a number.
    private mutating func skipWord(_ first: UInt8) throws(JSONError) {
        switch first {
        case UInt8(ascii: "t"): try skip("true")
        case UInt8(ascii: "f"): try skip("false")
        case UInt8(ascii: "n"): try skip("null")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try scanNumber()
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
