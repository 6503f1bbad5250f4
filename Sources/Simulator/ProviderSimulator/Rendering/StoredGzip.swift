internal import NIOCore

/// Encodes gzip data (RFC 1952) with stored, uncompressed blocks (RFC 1951, 3.2.4). This costs only a checksum and
/// needs no library, but clients still run their decoder.
enum StoredGzip {
    /// - Parameter damaged: true to write a wrong checksum and a wrong length of the first block. Only some clients
    ///   check the checksum, but every client detects the wrong length.
    static func encode(_ body: ByteBuffer, damaged: Bool = false) -> ByteBuffer {
        var body = body
        var checksum: UInt32 = 0xFFFF_FFFF
        for byte in body.readableBytesView { checksum = checksum >> 8 ^ table[Int((checksum ^ UInt32(byte)) & 0xFF)] }
        let size = UInt32(truncatingIfNeeded: body.readableBytes)

        var gzip = ByteBufferAllocator().buffer(capacity: body.readableBytes + body.readableBytes / 10_000 + 64)
        gzip.writeBytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])  // deflate, no name, no time, unknown system
        var isFirst = true
        repeat {
            let length = min(body.readableBytes, 65_535)
            let isLast = length == body.readableBytes
            gzip.writeInteger(isLast ? 1 : 0, as: UInt8.self)
            let shown = UInt16(truncatingIfNeeded: length)
            gzip.writeInteger(shown, endianness: .little)
            gzip.writeInteger(damaged && isFirst ? shown : ~shown, endianness: .little)
            if var block = body.readSlice(length: length) { gzip.writeBuffer(&block) }
            isFirst = false
        } while body.readableBytes > 0

        gzip.writeInteger(damaged ? checksum : ~checksum, endianness: .little)
        gzip.writeInteger(size, endianness: .little)
        return gzip
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }
}
