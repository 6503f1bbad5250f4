internal import CCurl

/// The body of a response, received piece by piece from curl.
struct ResponseBody {
    /// The maximum size of the body, compressed or not.
    let limit: Int
    private var bytes: [UInt8] = []
    /// True if the body exceeded the limit.
    private(set) var isTooLarge = false

    init(limit: Int) { self.limit = limit }

    /// Clears the last body.
    mutating func reset() { (bytes, isTooLarge) = ([], false) }

    /// Adds received bytes.
    /// - Parameter announced: Returns the size that the head announced; -1 if it announced none. A compressed body
    ///   announces less than its decompressed size.
    /// - Returns: `false` if the body is too large.
    mutating func take(_ piece: UnsafeRawBufferPointer, announced: () -> Int) -> Bool {
        guard piece.count <= limit - bytes.count else {
            isTooLarge = true
            return false
        }
        if bytes.isEmpty { bytes.reserveCapacity(min(limit, max(piece.count, announced()))) }
        bytes.append(contentsOf: piece)
        return true
    }

    /// Moves the received bytes out.
    mutating func move() -> [UInt8] {
        var received: [UInt8] = []
        swap(&received, &bytes)
        return received
    }
}

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
