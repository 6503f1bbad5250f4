internal import NIOCore
internal import NIOHTTP1

/// Assembles complete requests from their parts, as these arrive on a connection.
struct RequestAssembler {
    /// An event to which the connection must react.
    enum Arrival {
        case request(IncomingRequest)
        /// A request that is not served. It is answered with this page, and the connection is closed.
        case refusal(status: Int, title: String)
        /// The client waits for "100 Continue" before sending the body.
        case expectation
        /// The client keeps sending a body that is too large. The connection is closed without an answer.
        case flood
    }

    /// The body of the current request.
    private enum Body {
        case none
        case bytes(ByteBuffer)
        /// The body is larger than allowed. Its bytes are dropped and counted.
        case tooLarge(dropped: Int)
    }

    private var head: HTTPRequestHead?
    private var body = Body.none

    /// A larger body is answered with 413.
    private static let maxBodyBytes = 1 << 20
    /// A longer URI is answered with 414.
    private static let maxURIBytes = 16_384
    /// The maximum number of bytes to read from a body that is too large, so that the client can receive the answer
    /// 413.
    private static let maxDroppedBytes = 64 << 20

    /// Processes the next part.
    /// - Returns: the event; `nil` while the request is incomplete.
    mutating func take(_ part: HTTPServerRequestPart) -> Arrival? {
        switch part {
        case .head(let head):
            (self.head, body) = (head, .none)
            let isExpecting = head.headers.first(name: "Expect")?.lowercased() == "100-continue"
            return isExpecting ? .expectation : nil
        case .body(let bytes): return append(bytes) ? nil : .flood
        case .end: return finish()
        }
    }

    /// Discards the current request.
    mutating func reset() { (head, body) = (nil, .none) }

    /// - Returns: `false` once the maximum number of bytes of a too large body has been read.
    private mutating func append(_ part: ByteBuffer) -> Bool {
        var part = part

        switch body {
        case .tooLarge(let dropped): body = .tooLarge(dropped: dropped + part.readableBytes)
        case .none where part.readableBytes > Self.maxBodyBytes: body = .tooLarge(dropped: part.readableBytes)
        case .none: body = .bytes(part)
        case .bytes(let bytes) where bytes.readableBytes + part.readableBytes > Self.maxBodyBytes:
            body = .tooLarge(dropped: part.readableBytes)
        case .bytes(var bytes):
            body = .none  // leaves the buffer with one owner, so that it is not copied
            bytes.writeBuffer(&part)
            body = .bytes(bytes)
        }

        if case .tooLarge(let dropped) = body { return dropped <= Self.maxDroppedBytes }
        return true
    }

    private mutating func finish() -> Arrival? {
        guard let head else { return nil }
        defer { reset() }

        if head.uri.utf8.count > Self.maxURIBytes { return .refusal(status: 414, title: "URI Too Long") }
        switch body {
        case .tooLarge: return .refusal(status: 413, title: "Payload Too Large")
        case .bytes(let bytes): return .request(IncomingRequest(head: head, body: bytes))
        case .none: return .request(IncomingRequest(head: head, body: nil))
        }
    }
}
