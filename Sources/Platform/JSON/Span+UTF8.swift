internal import CScan

extension Span where Element == UInt8 {
    /// True if the bytes are UTF-8 (RFC 3629). Checks up to 16 bytes at a time, while `UTF8Span(validating:)` checks
    /// one.
    public var isUTF8: Bool {
        // Safe: the call reads only the span's bytes.
        unsafe withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return true }
            return unsafe locsearch_is_utf8(first, bytes.count, bytes.count)
        }
    }
}
