internal import NIOCore
internal import LibC

/// Applies a fault instead of sending the correct answer.
extension ConnectionHandler {
    func apply(_ fault: Fault, for exchange: Exchange) {
        switch fault.kind {
        case .http(let status): send(Reply.page(status, title: "Fault", retryAfter: fault.number), for: exchange)
        case .provider(let error):
            sendFault(Answers.error(error, retryAfter: fault.number, to: exchange.request), for: exchange)
        case .body(let body):
            sendFault(body.reply(to: exchange.request, with: resources), for: exchange)
        case .transfer(let transfer): apply(transfer, number: fault.number, for: exchange)
        }
    }

    private func apply(_ transfer: Fault.WrongTransfer, number: Int?, for exchange: Exchange) {
        switch transfer {
        case .damagedGzip:
            // A correct head (RFC 1952), then a block of the reserved type 3 (RFC 1951).
            let bytes = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 7] + [UInt8](repeating: 0, count: 500)
            var reply = Reply(Reply.json, body: ByteBuffer(bytes: bytes))
            reply.headers.append(("Content-Encoding", "gzip"))
            sendFault(reply, for: exchange)

        case .truncated: sendHalf(for: exchange, isChunked: false) { self.finishAndClose(exchange) }
        case .cutChunked: sendHalf(for: exchange, isChunked: true) { self.finishAndClose(exchange) }
        case .hangInBody: sendHalf(for: exchange, isChunked: false) {}
        case .resetInBody:
            sendHalf(for: exchange, isChunked: false) {
                // The delay gives the client time to read, because a reset may discard unread data.
                self.schedule(in: .milliseconds(30)) { self.finishAndReset(exchange) }
            }

        case .hang: break
        case .reset: finishAndReset(exchange)
        case .close: finishAndClose(exchange)
        case .drip: drip(for: exchange, milliseconds: min(max(number ?? 10_000, 1), 600_000))
        case .huge: beginHugeBody(for: exchange, megabytes: min(max(number ?? 100, 1), 4096))
        }
    }

    /// Sends a complete answer that the statistics count as the exchange's fault.
    private func sendFault(_ reply: Reply, for exchange: Exchange) {
        var reply = reply
        reply.outcome = exchange.faultOutcome
        send(reply, for: exchange)
    }

    // MARK: - Bodies in pieces

    /// Sends the head of the correct answer and half of its body, then calls `next`.
    private func sendHalf(for exchange: Exchange, isChunked: Bool, then next: @escaping () -> Void) {
        guard let context else { return }

        let reply = answer(to: exchange)
        let half = max(reply.body.readableBytes / 2, min(reply.body.readableBytes, 1))
        var bytes = ByteBuffer()
        reply.writeHead(to: &bytes, length: isChunked ? nil : reply.body.readableBytes, connection: nil)
        if isChunked { bytes.writeString(String(half, radix: 16) + "\r\n") }
        bytes.writeImmutableBuffer(reply.body.getSlice(at: reply.body.readerIndex, length: half) ?? ByteBuffer())
        if isChunked { bytes.writeStaticString("\r\n") }

        context.writeAndFlush(wrapOutboundOut(bytes)).assumeIsolated().whenSuccess(next)
    }

    /// Sends the correct answer in at most 20 pieces over this many milliseconds.
    private func drip(for exchange: Exchange, milliseconds: Int) {
        guard let context else { return }

        let reply = answer(to: exchange)
        var head = ByteBuffer()
        reply.writeHead(
            to: &head, length: reply.body.readableBytes, connection: exchange.request.connectionHeader)
        context.writeAndFlush(wrapOutboundOut(head), promise: nil)

        let pieces = min(max(reply.body.readableBytes, 1), 20)
        drip(
            reply.body, pieceBytes: (reply.body.readableBytes + pieces - 1) / pieces,
            every: .microseconds(Int64(milliseconds * 1000 / pieces)), for: exchange)
    }

    private func drip(_ rest: ByteBuffer, pieceBytes: Int, every pause: TimeAmount, for exchange: Exchange) {
        schedule(in: pause) {
            guard let context = self.context, exchange.phase != .finished else { return }

            var rest = rest
            let piece = rest.readSlice(length: min(pieceBytes, rest.readableBytes)) ?? ByteBuffer()
            context.writeAndFlush(self.wrapOutboundOut(piece), promise: nil)

            if rest.readableBytes > 0 {
                self.drip(rest, pieceBytes: pieceBytes, every: pause, for: exchange)
            } else {
                self.finish(exchange, outcome: exchange.faultOutcome, isAborted: false)
            }
        }
    }

    /// Sends a JSON object of any size, with blanks between its braces. The same 64 KB are sent repeatedly.
    private func beginHugeBody(for exchange: Exchange, megabytes: Int) {
        guard let context else { return }

        let reply = Reply(Reply.json, body: ByteBuffer())
        var bytes = ByteBuffer()
        reply.writeHead(to: &bytes, length: megabytes << 20, connection: "close")
        bytes.writeStaticString("{")
        exchange.hugeBytesLeft = megabytes << 20 - 1

        context.write(wrapOutboundOut(bytes), promise: nil)
        streamHugeBody(for: exchange)
    }

    /// Sends as much of a huge body as the channel accepts now. Called again when the channel becomes writable.
    func streamHugeBody(for exchange: Exchange) {
        guard let context else { return }

        let blanks = ByteBuffer(repeating: UInt8(ascii: " "), count: 65_536)
        while exchange.hugeBytesLeft > 1, context.channel.isWritable {
            let size = min(blanks.readableBytes, exchange.hugeBytesLeft - 1)
            exchange.hugeBytesLeft -= size
            context.writeAndFlush(wrapOutboundOut(blanks.getSlice(at: 0, length: size) ?? blanks), promise: nil)
        }

        guard exchange.hugeBytesLeft == 1, context.channel.isWritable else { return }

        exchange.hugeBytesLeft = 0
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(staticString: "}"))).assumeIsolated().whenSuccess {
            self.finishAndClose(exchange)
        }
    }

    // MARK: - Early connection ends

    private func finishAndClose(_ exchange: Exchange) {
        beginClosing()
        finish(exchange, outcome: exchange.faultOutcome, isAborted: false)
        close()
    }

    /// Closes with a linger time of zero, which sends RST and discards unsent data.
    private func finishAndReset(_ exchange: Exchange) {
        beginClosing()
        finish(exchange, outcome: exchange.faultOutcome, isAborted: false)

        guard let context, let socket = context.channel as? any SocketOptionProvider else { return close() }
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).hop(to: context.eventLoop).assumeIsolated().whenComplete {
            _ in
            self.close()
        }
    }

    private func schedule(in time: TimeAmount, action: @escaping () -> Void) {
        _ = context?.eventLoop.assumeIsolated().scheduleTask(in: time, action)
    }
}
