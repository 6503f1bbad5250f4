internal import CScan

/// The input, and where tokens stand in it. Two words without any state, so that loops over it stay in registers.
struct JSONBytes: ~Escapable {
    let bytes: Span<UInt8>

    @_lifetime(copy bytes)
    @inline(__always)
    init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    @inline(__always)
    var count: Int { bytes.count }

    /// Where the first byte behind blanks stands. Within the input.
    @inline(__always)
    func token(from index: Int) throws(JSONError) -> Int {
        // Compact input has no blanks: one comparison.
        if index < count, byte(index) > UInt8(ascii: " ") { return index }
        return try tokenBehindBlanks(from: index)
    }

    @inline(never)
    private func tokenBehindBlanks(from start: Int) throws(JSONError) -> Int {
        let index = behindBlanks(from: start)
        guard index < count else { throw JSONError(.unexpectedEnd, at: index) }
        return index
    }

    func behindBlanks(from start: Int) -> Int {
        var index = start
        while index < count {
            // Indented input: eight spaces at a time.
            while index &+ 8 <= count, word(at: index) == 0x2020_2020_2020_2020 { index &+= 8 }
            guard index < count else { return index }
            switch byte(index) {
            case 0x20, 0x0A, 0x0D, 0x09: index &+= 1
            default: return index
            }
        }
        return index
    }

    /// - Parameter index: less than `count`; the caller has checked.
    @inline(__always)
    func byte(_ index: Int) -> UInt8 {
        assert(index >= 0 && index < count)
        // Safe: below the end by the caller's check; indices begin at 0 and only grow.
        return unsafe bytes[unchecked: index]
    }

    /// Whether these two bytes stand there, neighbours.
    @inline(__always)
    func holds(_ first: UInt8, _ second: UInt8, at index: Int) -> Bool {
        guard index &+ 2 <= count else { return false }
        // Safe: in bounds by the check above; the load may be unaligned.
        let pair = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt16.self)
        return UInt16(littleEndian: pair) == UInt16(first) | UInt16(second) << 8
    }

    /// Whether these three bytes stand at a place that `special` gave: compact input, where quotes, colons and commas are
    /// neighbours.
    @inline(__always)
    func holds(_ first: UInt8, _ second: UInt8, _ third: UInt8, at index: Int) -> Bool {
        assert(index >= 0 && index + 4 <= count)
        // Safe: `special` gives no place with fewer than three bytes behind it; the load may be unaligned.
        let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt32.self)
        return UInt32(littleEndian: word) & 0xFF_FFFF == UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16
    }

    /// Eight bytes, the first in the lowest place.
    /// - Parameter index: at most `count - 8`; the caller has checked.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        assert(index >= 0 && index + 8 <= count)
        // Safe: in bounds by the caller's check, any bit pattern is a UInt64, and the load may be unaligned.
        return UInt64(
            littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    /// Where a key or a string stands, between its quotes.
    struct TextRange {
        let start: Int
        let end: Int
        let hasEscapes: Bool
    }

    /// Where the opening quote of the key behind blanks stands.
    @inline(__always)
    func key(from start: Int) throws(JSONError) -> Int {
        let index = try token(from: start)
        guard byte(index) == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: index) }
        return index
    }

    /// - Parameter quote: the one that ends a key.
    /// - Returns: the place behind the colon that must follow.
    @inline(__always)
    func behindColon(from quote: Int) throws(JSONError) -> Int {
        if holds(UInt8(ascii: "\""), UInt8(ascii: ":"), at: quote) { return quote &+ 2 }
        let index = try token(from: quote &+ 1)
        guard byte(index) == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: index) }
        return index &+ 1
    }

    /// `JSONText.head` of a text that was just scanned.
    @inline(__always)
    func head(_ start: Int, length: Int) -> UInt64 {
        // Nearly always: what follows the text belongs to the same input.
        if start &+ 8 <= count {
            let word = word(at: start)
            return length >= 8 ? word : word & ~(UInt64.max &<< UInt64(truncatingIfNeeded: length &* 8))
        }
        var head = 0 as UInt64
        for index in 0..<min(length, 8) { head |= UInt64(bytes[start + index]) << UInt64(index * 8) }
        return head
    }

    /// What stands in a range that was scanned.
    @_lifetime(copy self)
    @inline(__always)
    func text(_ range: TextRange) -> JSONText {
        JSONText(
            bytes.extracting(range.start..<range.end), head: head(range.start, length: range.end &- range.start),
            hasEscapes: range.hasEscapes, offset: range.start)
    }

    /// Scans a string and checks its escapes' shape.
    /// - Parameter quote: the opening one's place.
    /// - Parameter block: what texts before this one left.
    @inline(__always)
    func textRange(from quote: Int, _ block: inout JSONBlock) throws(JSONError) -> TextRange {
        try textRange(from: quote, endingAt: special(from: quote &+ 1, &block))
    }

    /// The same where `special` was asked before.
    @inline(__always)
    func textRange(from quote: Int, endingAt end: Int?) throws(JSONError) -> TextRange {
        guard let end, byte(end) == UInt8(ascii: "\"") else { return try textRange(behind: quote) }
        return TextRange(start: quote &+ 1, end: end, hasEscapes: false)
    }

    /// Where the first quote, backslash or control character from `start` on stands. Asked from left to right, for each
    /// place once: what stands before the block was given away.
    /// - Returns: `nil` when there is none but among the input's last bytes, 67 or fewer. So at least three bytes follow.
    @inline(__always)
    func special(from start: Int, _ block: inout JSONBlock) -> Int? {
        if start >= block.end {
            // Mostly the next one, whose place is known before the end of the text before this.
            guard look(at: start &- block.end < 64 ? block.end : start & ~63, &block) else { return nil }
        }
        assert(start >= block.end &- 64)
        // Shifted by the place within the block: nothing before the text counts.
        var (end, hits) = (start, block.specials &>> UInt64(truncatingIfNeeded: start))
        while hits == 0 {
            end = block.end
            guard look(at: end, &block) else { return nil }
            hits = block.specials
        }
        return end &+ hits.trailingZeroBitCount
    }

    /// - Parameter start: a multiple of 64.
    /// - Returns: `false` where there are no 64 bytes with four behind them.
    @inline(__always)
    private func look(at start: Int, _ block: inout JSONBlock) -> Bool {
        assert(start & 63 == 0)
        guard start &+ 68 <= count else { return false }
        // Safe: the span's own bytes, in bounds by the check above, and the call reads nothing else.
        let specials = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe locsearch_block(bytes.baseAddress.unsafelyUnwrapped + start)
        }
        block = JSONBlock(end: start &+ 64, specials: specials)
        return true
    }

    /// The same for a string that holds escapes, is at fault, or ends among the last bytes of the input.
    @inline(never)
    private func textRange(behind quote: Int) throws(JSONError) -> TextRange {
        let start = quote &+ 1
        let end = firstSpecial(from: start)
        if end < count, byte(end) == UInt8(ascii: "\"") {
            return TextRange(start: start, end: end, hasEscapes: false)
        }
        return TextRange(start: start, end: try textEnd(from: start), hasEscapes: true)
    }

    /// Where the first quote, backslash or control character from `start` on stands; the end if there is none.
    private func firstSpecial(from start: Int) -> Int {
        // Safe: the span's own bytes and count, and the call reads nothing else.
        unsafe bytes.withUnsafeBufferPointer { bytes in
            // Without an address there are no bytes.
            guard let first = bytes.baseAddress else { return start }
            return unsafe locsearch_first_special(first, start, bytes.count)
        }
    }

    /// Where the closing quote of a string stands that holds escapes or is at fault.
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

    static func hexadecimalValue(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The 64 bytes looked at last for the end of a text: most texts are short, and the next one ends there too. What was
/// found does not wait for the text before it to be read, as looking from each text's start would.
struct JSONBlock {
    /// Of the byte behind it, a multiple of 64; 0: none was looked at yet.
    var end = 0
    /// Which are a quote, a backslash or a control character, the first byte's bit the lowest.
    var specials = 0 as UInt64
}
