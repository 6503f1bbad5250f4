import Basics
import JSON

/// Builds a URL and percent-encodes the values of its query.
struct QueryURL {
    private var bytes: [UInt8]
    private var hasQuery = false

    /// Makes a URL without a query.
    /// - Parameter path: begins with a slash, and is already encoded.
    init(_ base: String, path: String) {
        bytes = []
        bytes.reserveCapacity(base.utf8.count + path.utf8.count + 240)
        append(base)
        append(path)
    }

    /// The URL so far.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Adds a parameter, unless its value is `nil`.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        addName(name)
        PercentEncoding.append(value, to: &bytes)
    }

    /// Adds an integer parameter.
    mutating func add(_ name: String, _ number: Int) {
        addName(name)
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(addingCapacity: 20) { $0.append(digitsOf: UInt64(number.magnitude)) }
    }

    /// Adds a number parameter, formatted as in `plainDecimal`.
    mutating func add(_ name: String, decimal number: Double) {
        addName(name)
        number.appendPlainDecimal(to: &bytes)
    }

    /// Adds a name without a value, for parameters that only need to be present.
    mutating func addFlag(_ name: String) {
        bytes.append(UInt8(ascii: hasQuery ? "&" : "?"))
        hasQuery = true
        append(name)
    }

    private mutating func addName(_ name: String) {
        addFlag(name)
        bytes.append(UInt8(ascii: "="))
    }

    private mutating func append(_ text: String) {
        // Through a span, because the view's iterator takes several times the instructions.
        let text = text.utf8.span
        bytes.append(addingCapacity: text.count) { room in
            for index in text.indices { room.append(text[index]) }
        }
    }
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
        guard scaled.isFinite, scaled.magnitude < 9e18 else { return bytes.append(UInt8(ascii: "0")) }
        if scaled < 0 { bytes.append(UInt8(ascii: "-")) }

        let scale: UInt64 = 10_000_000
        let digits = UInt64(saturating: scaled.magnitude)
        let whole = digits / scale  // bounded: the scale is a constant
        var (decimals, places) = (digits % scale, 7)  // bounded: the scale is a constant
        while places > 0, decimals % 10 == 0 { (decimals, places) = (decimals / 10, places - 1) }

        bytes.append(addingCapacity: 24) { room in
            room.append(digitsOf: whole)
            guard places > 0 else { return }
            room.append(UInt8(ascii: "."))
            room.append(digitsOf: decimals, places: places)
        }
    }
}
