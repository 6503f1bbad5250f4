internal import CScan

extension JSONText {
    /// Returns the number in the text; `nil` if the text is not exactly one number.
    /// - Parameter read: Reads the number.
    func lenientNumber<Number>(_ read: (inout JSONReader) throws(JSONError) -> Number?) -> Number? {
        if hasEscapes { return unescapedNumber(read) }
        return Self.number(in: bytes, read: read)
    }

    /// Parses a number whose digits may be escaped: `"\u0033\u0035"` is 35.
    @inline(never)
    private func unescapedNumber<Number>(_ read: (inout JSONReader) throws(JSONError) -> Number?) -> Number? {
        guard let text = try? string() else { return nil }
        let unescaped = Array(text.utf8)
        return Self.number(in: unescaped.span, read: read)
    }

    private static func number<Number>(
        in bytes: Span<UInt8>, read: (inout JSONReader) throws(JSONError) -> Number?
    ) -> Number? {
        var reader = JSONReader(bytes)
        guard let number = try? read(&reader), (try? reader.finish()) != nil else { return nil }
        return number
    }
}

extension JSONReader {
    /// Reads a number; `nil` if the value is not a number or is too large for a `Double`. It is rounded correctly, and
    /// never infinite or NaN.
    public mutating func double() throws(JSONError) -> Double? {
        guard try kind() == .number else {
            try skip()
            return nil
        }
        let (number, range) = try scanNumber()
        return double(number, at: range)
    }

    /// Reads a whole number, written like `20`, `20.0` or `2e1`; `nil` if the value is not one, or does not fit
    /// exactly.
    public mutating func int() throws(JSONError) -> Int? {
        guard try kind() == .number else {
            try skip()
            return nil
        }
        let (number, range) = try scanNumber()
        if number.isInteger, !number.isLong {
            return number.isNegative ? Int(exactly: -Int128(number.digits)) : Int(exactly: number.digits)
        }

        // Above 2^53, a Double cannot represent every whole number.
        guard let value = double(number, at: range), abs(value) <= 0x1p53 else { return nil }
        return Int(exactly: value)
    }

    /// Reads a number, or a string that contains exactly one, such as `"35.69"`, optionally with surrounding blanks.
    public mutating func lenientDouble() throws(JSONError) -> Double? {
        guard try token() == UInt8(ascii: "\"") else { return try double() }
        return try scanText().lenientNumber { reader throws(JSONError) in try reader.double() }
    }

    /// Reads a whole number, or a string that contains exactly one.
    public mutating func lenientInt() throws(JSONError) -> Int? {
        guard try token() == UInt8(ascii: "\"") else { return try int() }
        return try scanText().lenientNumber { reader throws(JSONError) in try reader.int() }
    }

    /// Reads a number and returns it with its range in the input.
    @inline(__always)
    private mutating func scanNumber() throws(JSONError) -> (JSONNumber, Range<Int>) {
        let start = offset
        let number = try input.number(from: start)
        offset = number.end
        return (number, start..<number.end)
    }

    func double(_ number: JSONNumber, at range: Range<Int>) -> Double? {
        // Both parts are exact as Doubles, so one operation rounds correctly (Clinger 1990). Most coordinates are short
        // enough.
        if !number.isLong, number.digits <= 1 << 53, abs(number.exponent) <= 22 {
            let digits = Double(number.digits)
            let power = locsearch_exact_power_of_ten(abs(number.exponent))
            let value = number.exponent < 0 ? digits / power : digits * power
            return number.isNegative ? -value : value
        }

        // Safe: the buffer is used only within the call. A number is ASCII.
        let text = unsafe input.bytes.extracting(range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }
}
