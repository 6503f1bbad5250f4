internal import CScan

extension Span where Element == UInt8 {
    /// True when the bytes are UTF-8 (RFC 3629). It takes 16 bytes at a time, where `UTF8Span(validating:)` takes one.
    public var isUTF8: Bool {
        // Safe: the call reads the span's bytes and nothing else.
        unsafe withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return true }
            return unsafe locsearch_is_utf8(first, bytes.count, bytes.count)
        }
    }
}
