internal import CScan

/// The input, with functions that find tokens in it. It is two words without any state, so that loops over it stay in
/// registers.
struct JSONBytes: ~Escapable {
    let bytes: Span<UInt8>

    @_lifetime(copy bytes)
    @inline(__always)
    init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    @inline(__always)
    var count: Int { bytes.count }

    /// Returns the place of the first byte behind blanks, which is within the input.
    @inline(__always)
    func token(from index: Int) throws(JSONError) -> Int {
        // Compact input has no blanks and needs only this comparison.
        if index < count, byte(index) > UInt8(ascii: " ") { return index }
        return try tokenBehindBlanks(from: index)
    }

    @inline(never)
    private func tokenBehindBlanks(from start: Int) throws(JSONError) -> Int {
        let index = behindBlanks(from: start)
        guard index < count else { throw JSONError(.unexpectedEnd, at: index) }
        return index
    }

    /// Returns the place of the first byte that is no blank; `count` when there is none.
    func behindBlanks(from start: Int) -> Int {
        var index = start
        while index < count {
            // Indented input is skipped eight spaces at a time.
            while index &+ 8 <= count, word(at: index) == 0x2020_2020_2020_2020 { index &+= 8 }
            guard index < count else { return index }
            switch byte(index) {
            case 0x20, 0x0A, 0x0D, 0x09: index &+= 1
            default: return index
            }
        }
        return index
    }

    /// Returns one byte.
    /// - Parameter index: is less than `count`, which the caller has checked.
    @inline(__always)
    func byte(_ index: Int) -> UInt8 {
        assert(index >= 0 && index < count)
        // Safe: the caller has checked the upper bound, and indices begin at 0 and only grow.
        return unsafe bytes[unchecked: index]
    }

    /// Returns `true` when these two bytes are at `index` and behind it.
    @inline(__always)
    func holds(_ first: UInt8, then second: UInt8, at index: Int) -> Bool {
        guard index &+ 2 <= count else { return false }
        // Safe: in bounds by the check above; the load may be unaligned.
        let pair = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt16.self)
        return UInt16(littleEndian: pair) == UInt16(first) | UInt16(second) << 8
    }

    /// Returns `true` when these three bytes are at `index` and behind it, as quotes, colons and commas are in compact input.
    /// - Parameter index: a place that `special` gave.
    @inline(__always)
    func holds(_ first: UInt8, then second: UInt8, then third: UInt8, at index: Int) -> Bool {
        assert(index >= 0 && index + 4 <= count)
        // Safe: at least three bytes follow a place that `special` gave, and the load may be unaligned.
        let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt32.self)
        return UInt32(littleEndian: word) & 0xFF_FFFF == UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16
    }

    /// Returns eight bytes as a number, in which the first byte is the lowest.
    /// - Parameter index: is at most `count - 8`, which the caller has checked.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        assert(index >= 0 && index + 8 <= count)
        // Safe: in bounds by the caller's check, any bit pattern is a UInt64, and the load may be unaligned.
        return UInt64(
            littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    /// The place of a key or a string, between its quotes.
    struct TextRange {
        let start: Int
        let end: Int
        let hasEscapes: Bool
    }

    /// Returns the place of the opening quote of the key behind blanks.
    @inline(__always)
    func key(from start: Int) throws(JSONError) -> Int {
        let index = try token(from: start)
        guard byte(index) == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: index) }
        return index
    }

    /// Returns the place behind the colon that must follow a key.
    /// - Parameter quote: the place of the quote that ends the key.
    @inline(__always)
    func behindColon(from quote: Int) throws(JSONError) -> Int {
        if holds(UInt8(ascii: "\""), then: UInt8(ascii: ":"), at: quote) { return quote &+ 2 }

        let index = try token(from: quote &+ 1)
        guard byte(index) == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: index) }
        return index &+ 1
    }

    /// Returns `JSONText.head` of a text that was just scanned.
    @inline(__always)
    func head(_ start: Int, length: Int) -> UInt64 {
        // Nearly always there are eight bytes, as the input goes on behind the text.
        if start &+ 8 <= count {
            let word = word(at: start)
            return length >= 8 ? word : word & ~(UInt64.max &<< UInt64(truncatingIfNeeded: length &* 8))
        }

        var head = 0 as UInt64
        for index in 0..<min(length, 8) { head |= UInt64(bytes[start + index]) << UInt64(index * 8) }
        return head
    }

    /// Scans a string and checks the shape of its escapes.
    /// - Parameters:
    ///   - quote: the place of the opening quote.
    ///   - block: the block in which the text before this one ended.
    @inline(__always)
    func textRange(from quote: Int, using block: inout JSONBlock) throws(JSONError) -> TextRange {
        try textRange(from: quote, endingAt: special(from: quote &+ 1, using: &block))
    }

    /// Does the same when `special` was called before.
    /// - Parameter end: the result of that call.
    @inline(__always)
    func textRange(from quote: Int, endingAt end: Int?) throws(JSONError) -> TextRange {
        guard let end, byte(end) == UInt8(ascii: "\"") else { return try textRange(behind: quote) }
        return TextRange(start: quote &+ 1, end: end, hasEscapes: false)
    }

    /// Returns the place of the first quote, backslash or control character from `start` on. At least three bytes follow it.
    ///
    /// Call it from left to right and once for each place, because `block` has forgotten what is before it.
    /// - Returns: `nil` when there is none before the last 67 bytes of the input, among which it does not look.
    @inline(__always)
    func special(from start: Int, using block: inout JSONBlock) -> Int? {
        if start >= block.end {
            // Mostly it is the next block, whose place is known before the end of the text before this one is.
            let next = start &- block.end < 64 ? block.end : start & ~63
            guard load(at: next, into: &block) else { return nil }
        }
        assert(start >= block.end &- 64)

        // The shift by the place within the block drops the hits before `start`.
        var (end, hits) = (start, block.specials &>> UInt64(truncatingIfNeeded: start))
        while hits == 0 {
            end = block.end
            guard load(at: end, into: &block) else { return nil }
            hits = block.specials
        }
        return end &+ hits.trailingZeroBitCount
    }

    /// Looks at 64 bytes.
    /// - Parameter start: a multiple of 64.
    /// - Returns: `false` when there are not 64 bytes with four behind them.
    @inline(__always)
    private func load(at start: Int, into block: inout JSONBlock) -> Bool {
        assert(start & 63 == 0)
        guard start &+ 68 <= count else { return false }

        // Safe: the call reads 64 bytes of the span and nothing else, which are in bounds by the check above.
        let specials = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe locsearch_block(bytes.baseAddress.unsafelyUnwrapped + start)
        }
        block = JSONBlock(end: start &+ 64, specials: specials)
        return true
    }

    /// Scans a string that holds escapes, is at fault, or ends among the last bytes of the input.
    @inline(never)
    private func textRange(behind quote: Int) throws(JSONError) -> TextRange {
        let start = quote &+ 1
        let end = firstSpecial(from: start)
        if end < count, byte(end) == UInt8(ascii: "\"") {
            return TextRange(start: start, end: end, hasEscapes: false)
        }
        return TextRange(start: start, end: try textEnd(from: start), hasEscapes: true)
    }

    /// Returns the place of the first quote, backslash or control character from `start` on; `count` when there is none.
    private func firstSpecial(from start: Int) -> Int {
        // Safe: the call is given the span's bytes and count, and reads nothing else.
        unsafe bytes.withUnsafeBufferPointer { bytes in
            // A span without an address is empty.
            guard let first = bytes.baseAddress else { return start }
            return unsafe locsearch_first_special(first, start, bytes.count)
        }
    }

    /// Returns the place of the closing quote of a string that holds escapes.
    /// - Throws: the fault of the string.
    @inline(never)
    private func textEnd(from start: Int) throws(JSONError) -> Int {
        var index = firstSpecial(from: start)
        while index < count {
            switch bytes[index] {
            case UInt8(ascii: "\""): return index
            case UInt8(ascii: "\\"): try skipEscape(at: &index)
            default: throw JSONError(.controlCharacter, at: index)
            }
            index = firstSpecial(from: index)
        }
        throw JSONError(.unexpectedEnd, at: count)
    }

    private func skipEscape(at index: inout Int) throws(JSONError) {
        guard index + 1 < count else { throw JSONError(.unexpectedEnd, at: count) }

        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 2
        case UInt8(ascii: "u"):
            for digit in index + 2..<index + 6 {
                guard digit < count else { throw JSONError(.unexpectedEnd, at: count) }
                guard Self.hexadecimalValue(of: bytes[digit]) != nil else { throw JSONError(.invalidEscape, at: digit) }
            }
            index += 6
        default: throw JSONError(.invalidEscape, at: index + 1)
        }
    }

    /// Returns the value of a hexadecimal digit; `nil` for another byte.
    static func hexadecimalValue(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The 64 bytes that were looked at last for the end of a text. Most texts are short, so the next one often ends there too.
/// The processor can look at a block before it knows where the text before it ends, which it could not if it looked from the
/// start of each text.
struct JSONBlock {
    /// The place behind the block, a multiple of 64; 0 when no block was looked at yet.
    var end = 0
    /// A bit for each byte that is a quote, a backslash or a control character. The first byte's bit is the lowest.
    var specials = 0 as UInt64
}
