extension JSONReader {
    /// Reads a number; `nil` when the value is no number or too large for a `Double`. It is rounded correctly, and never
    /// infinite or NaN.
    public mutating func double() throws(JSONError) -> Double? {
        guard try kind() == .number else {
            try skip()
            return nil
        }
        return double(try scanNumber())
    }

    /// Reads a whole number, written like `20`, `20.0` or `2e1`; `nil` when the value is none, or does not fit exactly.
    public mutating func int() throws(JSONError) -> Int? {
        guard try kind() == .number else {
            try skip()
            return nil
        }
        let number = try scanNumber()
        if number.isInteger, !number.isLong {
            return number.isNegative ? Int(exactly: -Int128(number.digits)) : Int(exactly: number.digits)
        }

        // Above 2^53, a Double does not distinguish neighbouring whole numbers.
        guard let value = double(number), abs(value) <= 0x1p53 else { return nil }
        return Int(exactly: value)
    }

    /// Reads a number, or a string that holds exactly one, such as `"35.69"`, with or without blanks around it.
    public mutating func lenientDouble() throws(JSONError) -> Double? {
        guard try token() == UInt8(ascii: "\"") else { return try double() }
        var inner = JSONReader(try scanText().bytes)
        guard let value = try? inner.double(), (try? inner.finish()) != nil else { return nil }
        return value
    }

    /// Reads a whole number, or a string that holds exactly one.
    public mutating func lenientInt() throws(JSONError) -> Int? {
        guard try token() == UInt8(ascii: "\"") else { return try int() }
        var inner = JSONReader(try scanText().bytes)
        guard let value = try? inner.int(), (try? inner.finish()) != nil else { return nil }
        return value
    }

    /// A number of the input. Unless `isLong`, its magnitude is `digits` x 10^`exponent`.
    struct Number {
        let range: Range<Int>
        let isNegative: Bool
        /// True for a number that is written without fraction and exponent.
        let isInteger: Bool
        /// The digits without sign and point.
        let digits: UInt64
        let exponent: Int
        /// True when `digits` or `exponent` do not fit, so that the text itself must be read.
        let isLong: Bool
    }

    /// Reads a number, checking its grammar.
    mutating func scanNumber() throws(JSONError) -> Number {
        let start = offset
        let isNegative = input.byte(offset) == UInt8(ascii: "-")
        if isNegative { offset += 1 }
        var (digits, isLong) = (0 as UInt64, false)

        let whole = offset
        scanDigits(into: &digits, isLong: &isLong)
        guard offset > whole, input.byte(whole) != UInt8(ascii: "0") || offset == whole + 1 else {
            throw numberError(at: offset > whole ? whole + 1 : offset)
        }

        var (isInteger, exponent) = (true, 0)
        if offset < input.count, input.byte(offset) == UInt8(ascii: ".") {
            offset += 1
            let fraction = offset
            scanDigits(into: &digits, isLong: &isLong)
            guard offset > fraction else { throw numberError(at: offset) }
            isInteger = false
            exponent = fraction - offset
        }
        if offset < input.count, input.byte(offset) | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            exponent += try scanExponent(&isLong)
        }
        return Number(
            range: start..<offset, isNegative: isNegative, isInteger: isInteger, digits: digits, exponent: exponent,
            isLong: isLong)
    }

    @inline(__always)
    private mutating func scanDigits(into digits: inout UInt64, isLong: inout Bool) {
        let start = offset
        let limit = UInt64.max / 10 - 1
        while offset < input.count {
            let digit = input.byte(offset) &- UInt8(ascii: "0")
            guard digit < 10 else { return }
            if digits > limit { isLong = true } else { digits = digits &* 10 &+ UInt64(digit) }
            offset += 1
        }
        assert(offset >= start)
    }

    private mutating func scanExponent(_ isLong: inout Bool) throws(JSONError) -> Int {
        offset += 1
        var isNegative = false
        if offset < input.count, input.byte(offset) == UInt8(ascii: "-") || input.byte(offset) == UInt8(ascii: "+") {
            isNegative = input.byte(offset) == UInt8(ascii: "-")
            offset += 1
        }
        let start = offset
        var exponent = 0 as UInt64
        scanDigits(into: &exponent, isLong: &isLong)
        guard offset > start else { throw numberError(at: offset) }
        if exponent > 9999 { isLong = true }
        return isNegative ? -Int(min(exponent, 9999)) : Int(min(exponent, 9999))
    }

    private func numberError(at index: Int) -> JSONError {
        JSONError(index < input.count ? .invalidNumber : .unexpectedEnd, at: index)
    }

    private func double(_ number: Number) -> Double? {
        // Both parts are exact as Doubles, so one operation rounds correctly (Clinger 1990). Most coordinates are so short.
        if !number.isLong, number.digits <= 1 << 53, abs(number.exponent) <= 22 {
            let digits = Double(number.digits)
            let power = Self.powersOfTen[abs(number.exponent)]
            let value = number.exponent < 0 ? digits / power : digits * power
            return number.isNegative ? -value : value
        }

        // Safe: the buffer is used within the call only. A number is ASCII.
        let text = unsafe input.bytes.extracting(number.range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// The powers of ten that a Double holds exactly, 10^0...10^22.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}
