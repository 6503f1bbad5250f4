/// Puts a URL together, percent-encoding as it goes (RFC 3986: all but unreserved characters).
struct QueryURL {
    private(set) var text: String
    private var hasQuery = false

    init(_ base: String, path: String) {
        text = base + path
        text.reserveCapacity(text.utf8.count + 160)
    }

    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += hasQuery ? "&" : "?"
        hasQuery = true
        text += name
        text += "="
        text += Self.encoded(value)
    }

    mutating func add(_ name: String, _ number: Int) { add(name, "\(number)") }

    /// A name without a value: some parameters count by being there.
    mutating func addFlag(_ name: String) {
        text += hasQuery ? "&" : "?"
        hasQuery = true
        text += name
    }

    /// For one path segment or one query value.
    static func encoded(_ value: String) -> String {
        if value.utf8.allSatisfy(isUnreserved) { return value }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(value.utf8.count * 3)
        for byte in value.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexadecimal(byte >> 4))
                bytes.append(hexadecimal(byte & 15))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
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
        let scaled = (self * 1e7).rounded()
        guard scaled.isFinite, abs(scaled) < 9e18 else { return "0" }
        let whole = Int64(scaled)
        let (quotient, remainder) = abs(whole).quotientAndRemainder(dividingBy: 10_000_000)
        let sign = whole < 0 ? "-" : ""
        guard remainder != 0 else { return "\(sign)\(quotient)" }
        var digits = "\(remainder)"
        digits = String(repeating: "0", count: 7 - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(sign)\(quotient).\(digits)"
    }
}
