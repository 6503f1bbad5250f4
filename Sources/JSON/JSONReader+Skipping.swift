extension JSONReader {
    /// Skips a value of any kind, checking its grammar.
    package mutating func skip() throws(JSONError) {
        let byte = try token()
        if byte == UInt8(ascii: "\"") {
            _ = try skipText()
        } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
            try skipContainer()
        } else {
            try skipWord(byte)
        }
    }

    /// Skips an object or array with all within it. Which brackets are open is kept as bits, 1 for an object, the
    /// innermost lowest: 64 levels in one word, no recursion.
    private mutating func skipContainer() throws(JSONError) {
        var (open, level) = (0 as UInt64, 0)
        repeat {
            let byte = try token()
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth + level < maximumDepth else { throw JSONError(.tooDeep, at: offset) }
                let isObject = byte == UInt8(ascii: "{")
                offset += 1
                open = open << 1 | (isObject ? 1 : 0)
                level += 1
                if try token() != Self.end(of: open) {
                    if isObject { _ = try key() }
                    continue
                }
            case UInt8(ascii: "\""): _ = try skipText()
            default: try skipWord(byte)
            }
            try leaveContainers(&open, &level)
        } while level > 0
    }

    /// Behind a value: over the comma (and the key) to the next one, leaving every container that ends before it.
    @inline(__always)
    private mutating func leaveContainers(_ open: inout UInt64, _ level: inout Int) throws(JSONError) {
        while level > 0 {
            let byte = try token()
            if byte == UInt8(ascii: ",") {
                offset += 1
                if open & 1 == 1 { _ = try key() }
                return
            }
            guard byte == Self.end(of: open) else { throw JSONError(.unexpectedByte, at: offset) }
            offset += 1
            open >>= 1
            level -= 1
        }
    }

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
            guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
            // Safe: `index` is within the word.
            guard unsafe bytes[offset] == word.utf8Start[index] else { throw JSONError(.unexpectedByte, at: offset) }
            offset += 1
        }
    }
}
