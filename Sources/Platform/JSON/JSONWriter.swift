/// Writes JSON text (RFC 8259) directly as bytes, without intermediate values. Its memory is reused for the next text.
///
/// The writer adds the commas. The caller is responsible for the rest of the grammar: a key before each value of an
/// object, and an end for each beginning.
public struct JSONWriter: ~Copyable {
    private var buffer: ByteBuffer
    private var needsComma = false

    /// Makes an empty writer.
    /// - Parameter capacity: The initial capacity in bytes. It grows as needed.
    public init(capacity: Int = 16384) {
        buffer = ByteBuffer(capacity: capacity)
    }

    /// The text written since the beginning or the last `reset`.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { buffer.span }
    }

    /// Returns a copy of the written text, and begins a new one.
    public mutating func finish() -> [UInt8] {
        let text = buffer.array
        reset()
        return text
    }

    /// Begins a new text in the same memory.
    public mutating func reset() {
        buffer.removeAll()
        needsComma = false
    }

    // MARK: Structure

    /// Begins an object; its members follow.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Begins an array; its values follow.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes a member's name; its value follows.
    /// - Parameter name: A name that needs no escapes.
    @inlinable
    @inline(__always)
    public mutating func key(_ name: StaticString) {
        if JSONKey.fits(name) { key(JSONKey(name)) } else { key(name.description) }
    }

    @usableFromInline
    mutating func key(_ key: JSONKey) {
        buffer.append(key, comma: needsComma)
        needsComma = false
    }

    /// Writes a member's name that is computed at run time. Disfavored, so that a literal uses the other overload.
    @_disfavoredOverload
    public mutating func key(_ name: String) {
        value(name)
        needsComma = false
        buffer.append(UInt8(ascii: ":"))
    }

    // MARK: Values

    public mutating func value(_ text: String) {
        value(utf8: text.utf8.span)
    }

    /// Writes a string from its bytes, which must be valid UTF-8.
    public mutating func value(utf8 text: Span<UInt8>) {
        // Safe: the buffer is used only within the call.
        unsafe text.withUnsafeBufferPointer { text in
            let copied = unsafe buffer.appendQuoted(text, comma: needsComma)
            needsComma = true
            if copied < text.count { unsafe appendEscaped(text, from: copied) }
        }
    }

    public mutating func value(_ number: Int) {
        separate()
        if number < 0 { buffer.append(UInt8(ascii: "-")) }
        buffer.appendDigits(UInt64(number.magnitude))
    }

    /// Writes the shortest text that reads back as the same number, without `.0`, and without an exponent from 1e-7 up
    /// to 1e21. Infinity and NaN, which JSON does not support, become `null`.
    public mutating func value(_ number: Double) {
        separate()
        appendNumber(number)
    }

    /// Writes `true` or `false`.
    public mutating func value(_ flag: Bool) {
        separate()
        if flag { buffer.append("true") } else { buffer.append("false") }
    }

    public mutating func null() {
        separate()
        buffer.append("null")
    }

    /// Writes one complete JSON value unchanged.
    public mutating func value(json: Span<UInt8>) {
        separate()
        buffer.append(json)
    }

    // MARK: Implementation

    /// Writes a comma, unless the next value is the first of its array or object, or the value of a key.
    @inline(__always)
    private mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        buffer.append(bracket, comma: needsComma)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = true
    }

    /// Appends the rest of a text that needs escapes, and its closing quote. Not inlined, because it is long and rarely
    /// needed.
    @inline(never)
    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, from first: Int) {
        var index = first
        while index < text.count {
            appendEscape(unsafe text[index])
            index = unsafe buffer.appendClean(text, from: index + 1)
        }
        buffer.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): buffer.append("\\\"")
        case UInt8(ascii: "\\"): buffer.append("\\\\")
        case 0x08: buffer.append("\\b")
        case 0x09: buffer.append("\\t")
        case 0x0A: buffer.append("\\n")
        case 0x0C: buffer.append("\\f")
        case 0x0D: buffer.append("\\r")
        default:
            buffer.append("\\u00")
            buffer.append(Self.hexDigit(byte >> 4))
            buffer.append(Self.hexDigit(byte & 0xF))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private mutating func appendNumber(_ number: Double) {
        guard number.isFinite else { return buffer.append("null") }
        if number.sign == .minus, number != 0 { buffer.append(UInt8(ascii: "-")) }

        let size = number.magnitude

        // Most numbers here are decimals with a few places, such as coordinates. A decimal of up to 15 digits that
        // reads back as the same Double is the shortest one (DBL_DIG). With 5 digits before the point and 10 after it,
        // no search for the shortest text is needed.
        let scaled = size < 1e5 && size >= 1e-7 ? Int64(size * 1e10 + 0.5) : 0
        if Double(scaled) / 1e10 == size {
            let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: 10_000_000_000)
            buffer.appendDigits(UInt64(whole))
            if fraction != 0 { buffer.appendDecimals(UInt64(fraction)) }
        } else {
            appendShortest(of: size)
        }
    }

    /// Appends the shortest digits, as computed by the standard library, without an exponent from 1e-7 up to 1e21.
    private mutating func appendShortest(of size: Double) {
        let text = size.description  // "12345.678", "1.25e-05", "1e+16"
        guard text.utf8.contains(UInt8(ascii: "e")) else {
            return text.hasSuffix(".0") ? append(text.utf8.dropLast(2)) : append(text.utf8)
        }

        let parts = text.utf8.split(separator: UInt8(ascii: "e"), maxSplits: 1)
        let digits = parts[0].filter { $0 != UInt8(ascii: ".") }
        let exponent = parts.count > 1 ? Int(Substring(parts[1])) ?? 0 : 0
        let point = 1 + exponent  // the number of digits before the point, of which the mantissa has one

        switch point {
        case ...(-7): append(text.utf8)  // smaller than 1e-7
        case ...0:
            buffer.append("0.")
            for _ in point..<0 { buffer.append(UInt8(ascii: "0")) }
            append(digits)
        case ...21:
            append(digits.prefix(point))
            for _ in 0..<max(0, point - digits.count) { buffer.append(UInt8(ascii: "0")) }
            if digits.count > point {
                buffer.append(UInt8(ascii: "."))
                append(digits.dropFirst(point))
            }
        default: append(text.utf8)
        }
    }

    private mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { buffer.append(byte) }
    }
}
