internal import NIOCore
internal import NIOHTTP1

/// Sends regular answers.
extension ConnectionHandler {
    /// Sends a complete answer, and finishes the exchange once it is sent.
    func send(_ reply: Reply, for exchange: Exchange) {
        guard let context else { return }

        exchange.phase = .answering

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
}
