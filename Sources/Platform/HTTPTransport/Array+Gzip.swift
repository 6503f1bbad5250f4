internal import CCurl

/// Decompression of bodies. A compressed body is recognized by its first bytes and not by `Content-Encoding`, because
/// gateways label plain JSON as `UTF-8` or `gzip`. libcurl would reject such a response, although the provider bills
/// it.
extension [UInt8] {
    /// The decompressed size (RFC 1952, 2.3.1); `nil` for a body that is not gzip.
    var gunzippedCount: Int? {
        guard count > 18, self[0] == 0x1F, self[1] == 0x8B else { return nil }
        return suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns the decompressed body; `nil` if the body is damaged.
    func gunzipped(count size: Int) -> [UInt8]? {
        let content = [UInt8](unsafeUninitializedCapacity: size) { buffer, used in
            // Safe: the call reads `count` bytes and writes at most `size` bytes.
            used = locsearch_gunzip(self, count, buffer.baseAddress, size) != 0 ? size : 0
        }
        return content.count == size ? content : nil
    }
}
