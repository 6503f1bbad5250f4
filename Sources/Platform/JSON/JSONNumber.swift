internal import CScan

/// A number in the input. Unless `isLong` is true, its magnitude is `digits` x 10^`exponent`.
struct JSONNumber {
    /// The index after the number.
    var end: Int
    var isNegative = false
    /// True for a number without fraction and exponent.
    var isInteger = true
    /// The digits without sign and point.
    var digits = 0 as UInt64
    var exponent = 0
    /// True if `digits` or `exponent` do not fit, so that the text itself must be parsed.
    var isLong = false

    static func mayBegin(with byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte &- UInt8(ascii: "0") < 10
    }
}

extension JSONBytes {
    /// Parses a number and checks its grammar.
    @inline(__always)
    func number(from start: Int) throws(JSONError) -> JSONNumber {
        var number = JSONNumber(end: start)
        if byte(start) == UInt8(ascii: "-") {
            number.isNegative = true
            number.end &+= 1
        }

        let whole = number.end
        scanDigits(of: &number)
        guard number.end > whole, byte(whole) != UInt8(ascii: "0") || number.end == whole &+ 1 else {
            throw numberError(at: number.end > whole ? whole &+ 1 : number.end)
        }

        guard number.end < count else { return number }
        if byte(number.end) == UInt8(ascii: ".") {
            number.isInteger = false
            number.end &+= 1
            let fraction = number.end
            scanDigits(of: &number)
            guard number.end > fraction else { throw numberError(at: number.end) }
            number.exponent = fraction &- number.end
        }
        if number.end < count, byte(number.end) | 0x20 == UInt8(ascii: "e") { try scanExponent(of: &number) }
        return number
    }

    /// Scans digits, eight at a time while at least eight bytes are left.
    @inline(__always)
    private func scanDigits(of number: inout JSONNumber) {
        // Below this limit, eight more digits fit.
        while number.end &+ 8 <= count, number.digits < 100_000_000_000 {
            // Digits become 0 to 9. Adding 0x76 sets the highest bit of all greater bytes. A carry changes only bytes
            // after the first of these.
            let word = word(at: number.end) ^ 0x3030_3030_3030_3030
            let others = (word | (word &+ 0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080
            let length = others.trailingZeroBitCount &>> 3
            if length == 0 { return }

            // Missing digits become leading zeros. Then neighbors are combined into two, four and eight digits.
            var value = word &<< UInt64(truncatingIfNeeded: 64 &- 8 &* length)
            value = (value &* 10 &+ value &>> 8) & 0x00FF_00FF_00FF_00FF
            value = (value &* 100 &+ value &>> 16) & 0x0000_FFFF_0000_FFFF
            value = (value &* 10_000 &+ value &>> 32) & 0xFFFF_FFFF

            number.digits = number.digits &* locsearch_power_of_ten(length) &+ value
            number.end &+= length
            if length < 8 { return }
        }
        scanSingleDigits(of: &number)
    }

    @inline(never)
    private func scanSingleDigits(of number: inout JSONNumber) {
        while number.end < count {
            let digit = byte(number.end) &- UInt8(ascii: "0")
            guard digit < 10 else { return }
            if number.digits > UInt64.max / 10 - 1 {
                number.isLong = true
            } else {
                number.digits = number.digits &* 10 &+ UInt64(digit)
            }
            number.end &+= 1
        }
    }

    @inline(never)
    private func scanExponent(of number: inout JSONNumber) throws(JSONError) {
        number.isInteger = false
        number.end += 1
        var isNegative = false
        if number.end < count, byte(number.end) == UInt8(ascii: "-") || byte(number.end) == UInt8(ascii: "+") {
            isNegative = byte(number.end) == UInt8(ascii: "-")
            number.end += 1
        }

        var exponent = JSONNumber(end: number.end)
        scanSingleDigits(of: &exponent)
        guard exponent.end > number.end else { throw numberError(at: number.end) }
        number.end = exponent.end

        if exponent.isLong || exponent.digits > 9999 { number.isLong = true }
        let magnitude = Int(min(exponent.digits, 9999))
        number.exponent += isNegative ? -magnitude : magnitude
    }

    private func numberError(at index: Int) -> JSONError {
        JSONError(index < count ? .invalidNumber : .unexpectedEnd, at: index)
    }
}
