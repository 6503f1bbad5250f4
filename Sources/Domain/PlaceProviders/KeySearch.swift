import Basics
internal import CScan

/// Searches providers' answers for API keys.
enum KeySearch {
    /// Returns whether a text contains a key, also if the key is escaped, even several times.
    static func repeats(_ keys: [[UInt8]], in text: Span<UInt8>) -> Bool {
        for key in keys where contains(text, key) { return true }
        guard hasEscapes(text) else { return false }

        var plain = EscapedText.unescaped(text)
        for _ in 0..<escapeDepth {
            guard let bytes = plain else { return false }
            for key in keys where contains(bytes.span, key) { return true }
            plain = EscapedText.unescaped(bytes.span)
        }
        return false
    }

    /// The maximum number of nested escapes: a link in a link in a page.
    private static let escapeDepth = 3

    /// Returns whether a text may contain an escape that `EscapedText` decodes. Few answers do, and the others are not copied.
    private static func hasEscapes(_ text: Span<UInt8>) -> Bool {
        // This is safe because the buffer is used only within the call.
        unsafe text.withUnsafeBufferPointer { text in
            guard let start = text.baseAddress else { return false }
            return unsafe locsearch_contains(start, text.count, "%", 1)
                || locsearch_contains_pair(start, text.count, UInt8(ascii: "&"), UInt8(ascii: "#"))
                || locsearch_contains_pair(start, text.count, UInt8(ascii: "\\"), UInt8(ascii: "u"))
        }
    }

    private static func contains(_ text: Span<UInt8>, _ key: [UInt8]) -> Bool {
        // This is safe because the buffers are used only within the call.
        unsafe text.withUnsafeBytes { text in
            unsafe key.withUnsafeBytes { key in
                guard let start = text.baseAddress, let sought = key.baseAddress else { return false }
                return unsafe locsearch_contains(start, text.count, sought, key.count)
            }
        }
    }
}

/// Decodes the escapes that may hide a key in a text: `%41`, `&#65;`, `&#x41;` and `\u0041` all mean `A`.
enum EscapedText {
    /// Returns the text with each escaped ASCII character decoded; `nil` if there is none.
    ///
    /// Escapes of other characters are kept, because keys never contain them and many URLs do.
    static func unescaped(_ text: Span<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var (index, copied) = (0, 0)
        while index < text.count {
            guard let escape = escape(in: text, at: index) else {
                index += 1
                continue
            }
            append(text.extracting(copied..<index), to: &result)
            result.append(escape.byte)
            index += escape.length
            copied = index
        }

        guard copied > 0 else { return nil }
        append(text.extracting(copied..<text.count), to: &result)
        return result
    }

    private static func append(_ part: Span<UInt8>, to bytes: inout [UInt8]) {
        bytes.reserveCapacity(bytes.count + part.count)
        for index in part.indices { bytes.append(part[index]) }
    }

    private static func escape(in text: Span<UInt8>, at start: Int) -> (byte: UInt8, length: Int)? {
        switch text[start] {
        case UInt8(ascii: "%"):
            return ascii(number(in: text, from: start + 1, digits: 2...2, radix: 16), headLength: 1)
        case UInt8(ascii: "&"):
            guard start + 2 < text.count, text[start + 1] == UInt8(ascii: "#") else { return nil }
            let isHexadecimal = text[start + 2] | 0x20 == UInt8(ascii: "x")
            let head = isHexadecimal ? 3 : 2
            let number = number(in: text, from: start + head, digits: 1...7, radix: isHexadecimal ? 16 : 10)
            guard var escape = ascii(number, headLength: head) else { return nil }
            let end = start + escape.length
            if end < text.count, text[end] == UInt8(ascii: ";") { escape.length += 1 }
            return escape
        case UInt8(ascii: "\\"):
            guard start + 1 < text.count, text[start + 1] == UInt8(ascii: "u") else { return nil }
            return ascii(number(in: text, from: start + 2, digits: 4...4, radix: 16), headLength: 2)
        default: return nil
        }
    }

    private static func ascii(_ number: (value: Int, digits: Int)?, headLength: Int) -> (byte: UInt8, length: Int)? {
        guard let number, (0x20..<0x7F).contains(number.value) else { return nil }
        return (UInt8(truncatingIfNeeded: number.value), headLength + number.digits)
    }

    /// Reads the digits at this position, up to the maximum number allowed.
    private static func number(
        in text: Span<UInt8>, from start: Int, digits allowed: ClosedRange<Int>, radix: Int
    ) -> (value: Int, digits: Int)? {
        var (value, digits) = (0, 0)
        while digits < allowed.upperBound, start + digits < text.count,
            let digit = text[start + digits].hexadecimalValue, digit < radix
        {
            value = value * radix + Int(digit)
            digits += 1
        }
        return digits >= allowed.lowerBound ? (value, digits) : nil
    }
}
