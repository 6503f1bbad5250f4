/// Encodes the first message of TLS, which is enough to detect whether a server uses TLS.
enum TLSHello {
    /// Returns a TLS 1.2 ClientHello, which TLS 1.3 servers also answer, if only with an alert.
    /// - Parameter host: sent as the server name, by which some servers choose their certificate. An address is not
    ///   sent.
    static func bytes(to host: String) -> [UInt8] {
        let suites: [UInt16] = [0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0x009C, 0x002F, 0x0035]
        let signatures: [UInt16] = [0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601]
        let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }

        var extensions = `extension`(0x000A, counted(two([0x001D, 0x0017, 0x0018])))  // supported groups
        extensions += `extension`(0x000B, [1, 0])  // point formats
        extensions += `extension`(0x000D, counted(two(signatures)))
        if !isAddress { extensions += `extension`(0x0000, counted([0] + counted(Array(host.utf8)))) }

        let random = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        let hello = [3, 3] + random + [0] + counted(two(suites)) + [1, 0] + counted(extensions)
        let message = [1, 0] + counted(hello)  // turns the two-byte length of `hello` into three bytes
        return [0x16, 3, 1] + counted(message)
    }

    /// Returns true for the beginning of a TLS record, such as a handshake message or an alert.
    static func isRecord(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 2 && (0x14...0x17).contains(bytes[0]) && bytes[1] == 3
    }

    private static func `extension`(_ kind: UInt16, _ content: [UInt8]) -> [UInt8] { two([kind]) + counted(content) }

    /// Returns the bytes with their two-byte length in front.
    private static func counted(_ bytes: [UInt8]) -> [UInt8] { two([UInt16(clamping: bytes.count)]) + bytes }

    private static func two(_ numbers: [UInt16]) -> [UInt8] {
        numbers.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }
}
