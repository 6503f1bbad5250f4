extension OutputSpan<UInt8> {
    /// Appends a number in decimal digits, padded with leading zeros to at least `places` digits.
    @_lifetime(self: copy self)
    public mutating func append(digitsOf number: UInt64, places: Int = 1) {
        let (upper, last) = number.quotientAndRemainder(dividingBy: 10)
        if upper > 0 || places > 1 { append(digitsOf: upper, places: places - 1) }
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: last))
    }
}
