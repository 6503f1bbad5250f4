internal import CCurl

/// Compressed bodies. They are recognised by their first bytes and not by `Content-Encoding`, because gateways label plain
/// JSON as `UTF-8` or `gzip`. libcurl refuses such an answer, which has been paid for.
extension [UInt8] {
    /// The size of what was compressed (RFC 1952, 2.3.1); `nil` for a body that is no gzip.
    var gunzippedCount: Int? {
        guard count > 18, self[0] == 0x1F, self[1] == 0x8B else { return nil }
        return suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns what was compressed; `nil` when the body is damaged.
    func gunzipped(count size: Int) -> [UInt8]? {
        let content = [UInt8](unsafeUninitializedCapacity: size) { buffer, used in
            // Safe: the call reads `count` bytes and writes `size` bytes at most.
            used = locsearch_gunzip(self, count, buffer.baseAddress, size) != 0 ? size : 0
        }
        return content.count == size ? content : nil
    }
}
