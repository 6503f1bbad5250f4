/// Puts a URL together, percent-encoding as it goes (RFC 3986: all but unreserved characters).
struct QueryURL {
    private var bytes: [UInt8]
    private var hasQuery = false

    init(_ base: String, path: String) {
        bytes = []
        bytes.reserveCapacity(base.utf8.count + path.utf8.count + 160)
        append(base)
        append(path)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        addFlag(name)
        bytes.append(UInt8(ascii: "="))
        Self.append(value, to: &bytes)
    }

    mutating func add(_ name: String, _ number: Int) { add(name, "\(number)") }

    /// As `plainDecimal`.
    mutating func add(_ name: String, decimal number: Double) {
        addFlag(name)
        bytes.append(UInt8(ascii: "="))
        number.appendPlainDecimal(to: &bytes)
    }

    /// A name without a value: some parameters count by being there.
    mutating func addFlag(_ name: String) {
        bytes.append(UInt8(ascii: hasQuery ? "&" : "?"))
        hasQuery = true
        append(name)
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// For one path segment or one query value.
    static func encoded(_ value: String) -> String {
        var bytes: [UInt8] = []
        append(value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ value: String, to bytes: inout [UInt8]) {
        for byte in value.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexadecimal(byte >> 4))
                bytes.append(hexadecimal(byte & 15))
            }
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension Double {
    /// For URLs and bodies: a decimal point, no exponent, at most 7 decimals (about 1 cm).
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
        // From the last digit to the first, then turned round.
        let first = bytes.count
        for place in 0... {
            if place == places, place > 0 { bytes.append(UInt8(ascii: ".")) }
            if place > places, rest == 0 { break }
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        // A slice's `reverse` would copy all of it first.
        for place in 0..<(bytes.count - first) / 2 { bytes.swapAt(first + place, bytes.count - 1 - place) }
    }
}
