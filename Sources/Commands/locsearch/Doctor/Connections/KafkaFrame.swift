import Kafka

/// Encodes and decodes the few Kafka messages that are exchanged before a login. librdkafka is not used, because it
/// does not report a broker's answers when it gives up on it.
enum KafkaFrame {
    /// The correlation id, which identifies the answer to a request.
    private static let correlation: Int32 = 0x6C6F_6373

    private static let (metadata, handshake, versions): (Int16, Int16, Int16) = (3, 17, 18)

    /// An ApiVersions request, which brokers answer even before a login.
    static let versionsRequest = request(versions, version: 0, body: [])

    /// A Metadata request for brokers and no topics. A broker that requires a login refuses it by closing the
    /// connection.
    static let metadataRequest = request(metadata, version: 1, body: bytes(Int32(0)))

    /// Returns a request to log in with a mechanism.
    static func handshakeRequest(_ mechanism: String, version: Int16) -> [UInt8] {
        request(handshake, version: version, body: text(mechanism))
    }

    // MARK: - Answers

    /// Returns the bytes after the header once the answer is complete; `nil` before that.
    static func body(of answer: [UInt8]) -> ArraySlice<UInt8>? {
        var rest = answer[...]
        guard let size = number(Int32.self, from: &rest), size >= 4, rest.count >= Int(size),
            number(Int32.self, from: &rest) == correlation
        else { return nil }
        return rest
    }

    /// Returns true if an answer to one of these requests may begin with these bytes.
    static func isBegin(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 8 else { return false }
        var rest = bytes[...]
        guard let size = number(Int32.self, from: &rest), (4...1_048_576).contains(size) else { return false }
        return number(Int32.self, from: &rest) == correlation
    }

    static func versions(in body: ArraySlice<UInt8>) -> BrokerRequests? {
        var rest = body
        guard number(Int16.self, from: &rest) != nil, let count = number(Int32.self, from: &rest), count >= 0 else {
            return nil
        }

        var versions: [Int16: ClosedRange<Int16>] = [:]
        for _ in 0..<min(count, 1000) {
            guard let kind = number(Int16.self, from: &rest), let low = number(Int16.self, from: &rest),
                let high = number(Int16.self, from: &rest)
            else { return nil }
            if low <= high { versions[kind] = low...high }
        }
        return BrokerRequests(versions)
    }

    /// Returns the mechanisms that a broker offers.
    static func mechanisms(in body: ArraySlice<UInt8>) -> [String]? {
        var rest = body
        guard number(Int16.self, from: &rest) != nil, let count = number(Int32.self, from: &rest), count >= 0 else {
            return nil
        }

        var mechanisms: [String] = []
        for _ in 0..<min(count, 100) {
            guard let length = number(Int16.self, from: &rest), length >= 0, rest.count >= Int(length) else {
                return nil
            }
            mechanisms.append(String(decoding: rest.prefix(Int(length)), as: UTF8.self))
            rest = rest.dropFirst(Int(length))
        }
        return mechanisms
    }

    // MARK: - Bytes

    private static func request(_ kind: Int16, version: Int16, body: [UInt8]) -> [UInt8] {
        let content = bytes(kind) + bytes(version) + bytes(correlation) + text("locsearch-doctor") + body
        return bytes(Int32(clamping: content.count)) + content
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func text(_ text: String) -> [UInt8] { bytes(Int16(clamping: text.utf8.count)) + Array(text.utf8) }

    private static func number<Number: FixedWidthInteger>(
        _: Number.Type, from bytes: inout ArraySlice<UInt8>
    ) -> Number? {
        let width = Number.bitWidth / 8
        guard bytes.count >= width else { return nil }
        defer { bytes = bytes.dropFirst(width) }
        return bytes.prefix(width).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
}
