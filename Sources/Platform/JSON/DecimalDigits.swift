/// Eight decimal digits of a number, computed in parallel in one word.
struct DecimalDigits {
    /// One byte of 0 to 9 per digit; the lowest byte is the first digit.
    private let values: UInt64

    /// - Parameter number: Less than 100,000,000.
    @inline(__always)
    init(_ number: UInt64) {
        // Each step splits the numbers of a word in two: the quotient goes to the lower half, the remainder to the
        // upper half. A product and a shift replace each division; they are exact for numbers of this size.
        let upper = number / 10_000
        let fours = upper | (number &- upper &* 10_000) &<< 32
        let hundreds = (fours &* 10_486) &>> 20 & 0x7F_0000_007F
        let pairs = hundreds | (fours &- hundreds &* 100) &<< 16
        let tens = (pairs &* 103) &>> 10 & 0x000F_000F_000F_000F
        values = tens | (pairs &- tens &* 10) &<< 8
    }

    /// The digits as text; the lowest byte is the first character.
    @inline(__always)
    var text: UInt64 { values | 0x3030_3030_3030_3030 }

    /// The number of leading zeros, 8 for 0.
    @inline(__always)
    var leadingZeros: Int { values.trailingZeroBitCount &>> 3 }

    /// The number of trailing zeros, 8 for 0.
    @inline(__always)
    var trailingZeros: Int { values.leadingZeroBitCount &>> 3 }
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
