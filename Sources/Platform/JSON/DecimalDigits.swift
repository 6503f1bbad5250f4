/// Eight decimal digits of a number, which are found side by side in one word.
struct DecimalDigits {
    /// A byte of 0 to 9 for each digit; the lowest is the first one.
    private let values: UInt64

    /// - Parameter number: less than 100,000,000.
    @inline(__always)
    init(_ number: UInt64) {
        // Each step parts the numbers of a word in two: their tens in the lower half, what is left in the upper one. A product
        // and a shift stand for each division; they are exact for numbers of that size.
        let upper = number / 10_000
        let fours = upper | (number &- upper &* 10_000) &<< 32
        let hundreds = (fours &* 10_486) &>> 20 & 0x7F_0000_007F
        let pairs = hundreds | (fours &- hundreds &* 100) &<< 16
        let tens = (pairs &* 103) &>> 10 & 0x000F_000F_000F_000F
        values = tens | (pairs &- tens &* 10) &<< 8
    }

    /// The digits as text, whose first byte is the lowest.
    @inline(__always)
    var text: UInt64 { values | 0x3030_3030_3030_3030 }

    /// The number of zeros in front, 8 for 0.
    @inline(__always)
    var leadingZeros: Int { values.trailingZeroBitCount &>> 3 }

    /// The number of zeros at the end, 8 for 0.
    @inline(__always)
    var trailingZeros: Int { values.leadingZeroBitCount &>> 3 }
}
