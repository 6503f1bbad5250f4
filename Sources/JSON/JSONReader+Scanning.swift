extension JSONReader {
    /// The first byte behind blanks, not consumed.
    @inline(__always)
    mutating func token() throws(JSONError) -> UInt8 {
        // Compact input has no blanks: one comparison.
        if offset < bytes.count, bytes[offset] > UInt8(ascii: " ") { return bytes[offset] }
        skipBlanks()
        guard offset < bytes.count else { throw JSONError(.unexpectedEnd, at: offset) }
        return bytes[offset]
    }

    mutating func skipBlanks() {
        let count = bytes.count
        while offset < count {
            // Indented input: eight spaces at a time.
            while offset + 8 <= count, word(at: offset) == 0x2020_2020_2020_2020 { offset += 8 }
            guard offset < count else { return }
            switch bytes[offset] {
            case 0x20, 0x0A, 0x0D, 0x09: offset += 1
            default: return
            }
        }
    }

    /// Eight bytes, the first in the lowest place.
    /// - Parameter index: at most `bytes.count - 8`; the caller has checked.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        assert(index >= 0 && index + 8 <= bytes.count)
        // Safe: in bounds by the caller's check, any bit pattern is a UInt64, and the load may be unaligned.
        return UInt64(
            littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    /// Reads a string, from its opening quote to behind its closing one, and checks its escapes' shape.
    @_lifetime(copy self)
    @inline(__always)
    mutating func scanText() throws(JSONError) -> JSONText {
        let start = offset + 1
        let hasEscapes = try skipText()
        return JSONText(bytes.extracting(start..<offset - 1), hasEscapes: hasEscapes, offset: start)
    }

    /// Skips a string, from its opening quote to behind its closing one.
    /// - Returns: whether it holds escapes.
    @inline(__always)
    mutating func skipText() throws(JSONError) -> Bool {
        var index = firstSpecial(from: offset + 1)
        if index < bytes.count, bytes[index] == UInt8(ascii: "\"") {
            offset = index + 1
            return false
        }
        try skipSpecials(from: &index)
        offset = index + 1
        return true
    }

    /// Where the first quote, backslash or control character from `start` on stands; the end if there is none.
    @inline(__always)
    func firstSpecial(from start: Int) -> Int {
        let (count, ones, high) = (bytes.count, 0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        var index = start
        while index + 8 <= count {
            let word = word(at: index)
            // A byte b has its high bit set here if b ^ 2 < 0x21: a control character or the quote (0x22 ^ 2 = 0x20).
            // Borrows falsify only places above the first hit, and only the first counts. Likewise for b ^ 0x5C < 1.
            let controlsAndQuotes = (word ^ ones &* 0x02) &- ones &* 0x21
            let backslashes = (word ^ ones &* 0x5C) &- ones
            let hits = (controlsAndQuotes | backslashes) & ~word & high
            if hits != 0 { return index + hits.trailingZeroBitCount >> 3 }
            index += 8
        }
        while index < count {
            let byte = bytes[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            index += 1
        }
        return index
    }

    /// The rest of a string that holds escapes or is at fault: moves `index` to its closing quote.
    @inline(never)
    private func skipSpecials(from index: inout Int) throws(JSONError) {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"): try skipEscape(at: &index)
            default: throw JSONError(.controlCharacter, at: index)
            }
            index = firstSpecial(from: index)
        }
        throw JSONError(.unexpectedEnd, at: bytes.count)
    }

    private func skipEscape(at index: inout Int) throws(JSONError) {
        guard index + 1 < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 2
        case UInt8(ascii: "u"):
            for digit in index + 2..<index + 6 {
                guard digit < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
                guard Self.hexadecimalValue(of: bytes[digit]) != nil else { throw JSONError(.invalidEscape, at: digit) }
            }
            index += 6
        default: throw JSONError(.invalidEscape, at: index + 1)
        }
    }

    static func hexadecimalValue(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
