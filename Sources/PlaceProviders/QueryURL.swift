import Basics

/// Puts a URL together and percent-encodes the values of its query.
struct QueryURL {
    private var bytes: [UInt8]
    private var hasQuery = false

    /// A URL without a query.
    /// - Parameter path: begins with a slash, and is encoded.
    init(_ base: String, path: String) {
        bytes = []
        bytes.reserveCapacity(base.utf8.count + path.utf8.count + 160)
        append(base)
        append(path)
    }

    /// The URL so far.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Adds a parameter; nothing when it has no value.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        addFlag(name)
        bytes.append(UInt8(ascii: "="))
        PercentEncoding.append(value, to: &bytes)
    }

    /// Adds a parameter that is an integer.
    mutating func add(_ name: String, _ number: Int) {
        addFlag(name)
        bytes.append(UInt8(ascii: "="))
        // A digit is itself in a URL, and so is the minus sign.
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Adds a parameter that is a number, written as `plainDecimal` writes it.
    mutating func add(_ name: String, decimal number: Double) {
        addFlag(name)
        bytes.append(UInt8(ascii: "="))
        number.appendPlainDecimal(to: &bytes)
    }

    /// Adds a name without a value, for parameters that count by being there.
    mutating func addFlag(_ name: String) {
        bytes.append(UInt8(ascii: hasQuery ? "&" : "?"))
        hasQuery = true
        append(name)
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}

extension Double {
    /// The number with a decimal point, no exponent and at most 7 decimals (about 1 cm of a degree), for URLs and bodies.
    var plainDecimal: String {
        var bytes: [UInt8] = []
        appendPlainDecimal(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    fileprivate func appendPlainDecimal(to bytes: inout [UInt8]) {
        let scaled = (self * 1e7).rounded()
        guard scaled.isFinite, abs(scaled) < 9e18 else { return bytes.append(UInt8(ascii: "0")) }
        if scaled < 0 { bytes.append(UInt8(ascii: "-")) }

        var rest = UInt64(abs(scaled))
        var places = 7
        while places > 0, rest % 10 == 0 { (rest, places) = (rest / 10, places - 1) }

        // The digits come from the last to the first, and are turned round behind the loop.
        let first = bytes.count
        for place in 0... {
            if place == places, place > 0 { bytes.append(UInt8(ascii: ".")) }
            if place > places, rest == 0 { break }
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }

        // They are swapped one by one because reversing a slice would copy it first.
        for place in 0..<(bytes.count - first) / 2 { bytes.swapAt(first + place, bytes.count - 1 - place) }
    }
}
