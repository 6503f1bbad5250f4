internal import CScan

/// The input, with functions that find tokens in it. It has two words and no other state, so that loops over it stay in
/// registers.
struct JSONBytes: ~Escapable {
    let bytes: Span<UInt8>

    @_lifetime(copy bytes)
    @inline(__always)
    init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    @inline(__always)
    var count: Int { bytes.count }

    /// Returns the index of the first byte that is not a blank. It is within the input.
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

    /// Returns the index of the first byte that is not a blank, or `count` if there is none.
    func behindBlanks(from start: Int) -> Int {
        // Safe: the call receives the span's bytes and count, and reads nothing else.
        unsafe bytes.withUnsafeBufferPointer { bytes in
            // A span without an address is empty.
            guard let first = bytes.baseAddress else { return start }
            return unsafe locsearch_behind_blanks(first, start, bytes.count)
        }
    }

    /// Returns one byte.
    /// - Parameter index: Less than `count`, as checked by the caller.
    @inline(__always)
    func byte(_ index: Int) -> UInt8 {
        assert(index >= 0 && index < count)
        // Safe: the caller has checked the upper bound, and indices begin at 0 and only grow.
        return unsafe bytes[unchecked: index]
    }

    /// Returns whether these two bytes are at `index`.
    @inline(__always)
    func holds(_ first: UInt8, then second: UInt8, at index: Int) -> Bool {
        guard index &+ 2 <= count else { return false }
        // Safe: in bounds by the check above; the load may be unaligned.
        let pair = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt16.self)
        return UInt16(littleEndian: pair) == UInt16(first) | UInt16(second) << 8
    }

    /// Returns whether these three bytes are at `index`, as quotes, colons and commas are in compact input.
    /// - Parameter index: An index followed by at least three more bytes, as checked by the caller.
    @inline(__always)
    func holds(_ first: UInt8, then second: UInt8, then third: UInt8, at index: Int) -> Bool {
        assert(index >= 0 && index + 4 <= count)
        // Safe: in bounds by the caller's check; the load may be unaligned.
        let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt32.self)
        return UInt32(littleEndian: word) & 0xFF_FFFF == UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16
    }

    /// Returns eight bytes as a number, of which the first byte is the lowest.
    /// - Parameter index: At most `count - 8`, as checked by the caller.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        assert(index >= 0 && index + 8 <= count)
        // Safe: in bounds by the caller's check, any bit pattern is a UInt64, and the load may be unaligned.
        return UInt64(
            littleEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self))
    }

    /// The range of a key or a string, between its quotes.
    struct TextRange {
        let start: Int
        let end: Int
        let hasEscapes: Bool
    }

    /// Returns the index of a key's opening quote, after blanks.
    @inline(__always)
    func key(from start: Int) throws(JSONError) -> Int {
        let index = try token(from: start)
        guard byte(index) == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: index) }
        return index
    }

    /// Returns the index after the colon that must follow a key.
    /// - Parameter quote: The index of the key's closing quote.
    @inline(__always)
    func behindColon(from quote: Int) throws(JSONError) -> Int {
        if holds(UInt8(ascii: "\""), then: UInt8(ascii: ":"), at: quote) { return quote &+ 2 }

        let index = try token(from: quote &+ 1)
        guard byte(index) == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: index) }
        return index &+ 1
    }

    /// Returns `JSONText.head` of a scanned text.
    @inline(__always)
    func head(_ start: Int, length: Int) -> UInt64 {
        // Nearly always there are eight bytes, because the input continues after the text.
        if start &+ 8 <= count {
            let word = word(at: start)
            return length >= 8 ? word : word & ~(UInt64.max &<< UInt64(truncatingIfNeeded: length &* 8))
        }

        var head = 0 as UInt64
        for index in 0..<min(length, 8) { head |= UInt64(bytes[start + index]) << UInt64(index * 8) }
        return head
    }

    /// Scans a string and checks the syntax of its escapes.
    /// - Parameter quote: The index of the opening quote.
    @inline(__always)
    func textRange(from quote: Int, using index: inout JSONIndex) throws(JSONError) -> TextRange {
        try textRange(from: quote, endingAt: index.special(from: quote &+ 1, in: bytes), using: &index)
    }

    /// Scans a string whose first special byte is already known.
    /// - Parameter end: The index of the first special byte after the opening quote.
    @inline(__always)
    func textRange(from quote: Int, endingAt end: Int, using index: inout JSONIndex) throws(JSONError) -> TextRange {
        guard end < count, byte(end) == UInt8(ascii: "\"") else {
            return TextRange(start: quote &+ 1, end: try textEnd(from: end, using: &index), hasEscapes: true)
        }
        return TextRange(start: quote &+ 1, end: end, hasEscapes: false)
    }

    /// Returns the index of the closing quote of a string with escapes.
    /// - Parameter special: The index of the string's first special byte.
    /// - Throws: The error in the string.
    @inline(never)
    private func textEnd(from special: Int, using index: inout JSONIndex) throws(JSONError) -> Int {
        var place = special
        while place < count {
            switch byte(place) {
            case UInt8(ascii: "\""): return place
            case UInt8(ascii: "\\"): try skipEscape(at: &place)
            default: throw JSONError(.controlCharacter, at: place)
            }
            place = index.special(from: place, in: bytes)
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

extension Span where Element == UInt8 {
    /// True if the bytes are UTF-8 (RFC 3629). Checks up to 16 bytes at a time, while `UTF8Span(validating:)` checks
    /// one.
    public var isUTF8: Bool {
        // Safe: the call reads only the span's bytes.
        unsafe withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return true }
            return unsafe locsearch_is_utf8(first, bytes.count, bytes.count)
        }
    }
}
