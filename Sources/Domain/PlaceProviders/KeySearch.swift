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
