internal import CScan

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

extension OutputSpan<UInt8> {
    /// Appends a number in decimal digits, padded with leading zeros to at least `places` digits.
    @_lifetime(self: copy self)
    public mutating func append(digitsOf number: UInt64, places: Int = 1) {
        let (upper, last) = number.quotientAndRemainder(dividingBy: 10)
        if upper > 0 || places > 1 { append(digitsOf: upper, places: places - 1) }
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: last))
    }
}
