internal import NIOCore
internal import NIOHTTP1

/// Sends regular answers.
extension ConnectionHandler {
    /// Sends a complete answer, and finishes the exchange once it is sent.
    func send(_ reply: Reply, for exchange: Exchange) {
        guard let context else { return }

        exchange.phase = .answering

        let reply = compressed(reply, for: exchange)
        var head = resources.allocator.buffer(capacity: 256)
        reply.writeHead(
            to: &head, length: reply.body.readableBytes, connection: exchange.request.connectionHeader)

        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .success: self.finish(exchange, outcome: reply.outcome, isAborted: false)
            case .failure: self.finish(exchange, outcome: "aborted", isAborted: true)
            }
        }

        let mayHaveBody = exchange.request.method != .HEAD && reply.status != 304 && reply.status != 204
        if mayHaveBody, reply.body.readableBytes > 0 {
            context.write(wrapOutboundOut(head), promise: nil)
            context.writeAndFlush(wrapOutboundOut(reply.body), promise: promise)
        } else {
            context.writeAndFlush(wrapOutboundOut(head), promise: promise)
        }
    }

    private func compressed(_ reply: Reply, for exchange: Exchange) -> Reply {
        guard resources.configuration.gzip, reply.body.readableBytes > 512, exchange.request.acceptsGzip,
            exchange.fault != .damagedGzip
        else { return reply }

        var reply = reply
        reply.body = StoredGzip.encode(reply.body)
        reply.headers.append(("Content-Encoding", "gzip"))
        return reply
    }

    /// Answers with an HTML page and closes the connection, without counting the request.
    func refuse(status: Int, title: String) {
        guard let context else { return }
        beginClosing()

        let reply = Reply.page(status, title: title)
        var bytes = ByteBuffer()
        reply.writeHead(to: &bytes, length: reply.body.readableBytes, connection: "close")
        bytes.writeImmutableBuffer(reply.body)
        context.writeAndFlush(wrapOutboundOut(bytes)).assumeIsolated().whenComplete { _ in self.close() }
    }
}

extension IncomingRequest {
    /// True if the client decodes gzip.
    var acceptsGzip: Bool { headers.first(name: "Accept-Encoding")?.contains("gzip") ?? false }

    /// The value of the answer's `Connection` header; `nil` if it is the default of the HTTP version.
    var connectionHeader: StaticString? {
        isKeptAlive ? (isVersion10 ? "keep-alive" : nil) : "close"
    }
}
