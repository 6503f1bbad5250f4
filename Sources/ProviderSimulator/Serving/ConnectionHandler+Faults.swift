internal import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What goes wrong on purpose.
extension ConnectionHandler {
    func play(_ fault: Fault, _ exchange: Exchange) {
        switch fault {
        case .http(let status, let hint):
            send(Reply.page(status, "Fault", retryAfter: hint), exchange)
        case .provider(let error, let hint):
            var reply = Answers.error(error, hint, to: exchange.request)
            reply.outcome = fault.outcome
            send(reply, exchange)
        case .body(let body):
            var reply = wrong(body, exchange.request)
            reply.outcome = fault.outcome
            send(reply, exchange)
        case .damagedGzip:
            var reply = Answers.reply(to: exchange.request, in: workshop)
            reply.body = StoredGzip.encode(reply.body, damaged: true)
            reply.headers.append(("Content-Encoding", "gzip"))
            reply.outcome = fault.outcome
            send(reply, exchange)
        case .truncated: sendHalf(exchange, isChunked: false) { self.end(exchange) }
        case .cutChunked: sendHalf(exchange, isChunked: true) { self.end(exchange) }
        case .hangInBody: sendHalf(exchange, isChunked: false) {}
        case .resetInBody:
            sendHalf(exchange, isChunked: false) {
                // Time for the client to read: a reset may discard what it has not read yet.
                self.after(.milliseconds(30)) { self.reset(exchange) }
            }
        case .hang: break
        case .reset: reset(exchange)
        case .close: end(exchange)
        case .drip(let milliseconds): drip(exchange, milliseconds)
        case .huge(let megabytes): beginHuge(exchange, megabytes)
        }
    }

    private func wrong(_ body: Fault.WrongBody, _ request: IncomingRequest) -> Reply {
        switch body {
        case .html: return Reply(Reply.html, Reply.page(200, "Maintenance").body)
        case .empty: return Reply(Reply.json, ByteBuffer())
        case .garbage:
            // The first is no character: one in 256 would else begin like a page, which some take for a notice.
            let bytes = [0x80] + (1..<4096).map { _ in UInt8(truncatingIfNeeded: workshop.numbers.next()) }
            return Reply(Reply.json, ByteBuffer(bytes: bytes))
        case .xml: return Reply(Reply.xml, ByteBuffer(string: "<?xml version=\"1.0\"?>\n<results><shop/></results>\n"))
        case .cut:
            var reply = Answers.reply(to: request, in: workshop)
            reply.body =
                reply.body.getSlice(at: reply.body.readerIndex, length: reply.body.readableBytes / 2) ?? ByteBuffer()
            return reply
        case .deep:
            var deep = ByteBuffer(string: "{\"results\":")
            deep.writeRepeatingByte(UInt8(ascii: "["), count: 100_000)
            deep.writeRepeatingByte(UInt8(ascii: "]"), count: 100_000)
            deep.writeStaticString("}")
            return Reply(Reply.json, deep)
        case .shape:
            return Reply(Reply.json, ByteBuffer(string: "[1,{\"results\":7,\"places\":\"none\",\"status\":[]}]"))
        case .utf8:
            // A lone continuation byte within the first name; the new API has names as `text`.
            var reply = Answers.reply(to: request, in: workshop)
            var bytes = Array(reply.body.readableBytesView)
            let marks = ["\"name\"", "\"text\""].map { Array($0.utf8) }
            if let (start, mark) = marks.lazy.compactMap({ mark in
                bytes.indices.first { bytes[$0...].starts(with: mark) }.map { ($0, mark) }
            }).first,
                let quote = bytes[(start + mark.count)...].firstIndex(of: UInt8(ascii: "\""))
            {
                bytes.insert(0xBF, at: quote + 1)
            }
            reply.body = ByteBuffer(bytes: bytes)
            return reply
        case .none: return Answers.nothing(to: request)
        }
    }

    // MARK: Pieces

    /// The head of the right answer and half of its body.
    private func sendHalf(_ exchange: Exchange, isChunked: Bool, then: @escaping () -> Void) {
        guard let context else { return }
        let reply = Answers.reply(to: exchange.request, in: workshop)
        let half = max(reply.body.readableBytes / 2, min(reply.body.readableBytes, 1))
        var bytes = ByteBuffer()
        reply.writeHead(&bytes, length: isChunked ? nil : reply.body.readableBytes, connection: nil)
        if isChunked { bytes.writeString(String(half, radix: 16) + "\r\n") }
        bytes.writeImmutableBuffer(reply.body.getSlice(at: reply.body.readerIndex, length: half) ?? ByteBuffer())
        if isChunked { bytes.writeStaticString("\r\n") }
        context.writeAndFlush(wrapOutboundOut(bytes)).assumeIsolated().whenSuccess(then)
    }

    private func drip(_ exchange: Exchange, _ milliseconds: Int) {
        guard let context else { return }
        let reply = Answers.reply(to: exchange.request, in: workshop)
        var head = ByteBuffer()
        reply.writeHead(&head, length: reply.body.readableBytes, connection: exchange.request.connectionHeader)
        context.writeAndFlush(wrapOutboundOut(head), promise: nil)
        let pieces = min(max(reply.body.readableBytes, 1), 20)
        let pause = TimeAmount.microseconds(Int64(milliseconds * 1000 / pieces))
        drip(exchange, reply.body, size: (reply.body.readableBytes + pieces - 1) / pieces, pause)
    }

    private func drip(_ exchange: Exchange, _ rest: ByteBuffer, size: Int, _ pause: TimeAmount) {
        after(pause) {
            guard let context = self.context, !exchange.isFinished else { return }
            var rest = rest
            let piece = rest.readSlice(length: min(size, rest.readableBytes)) ?? ByteBuffer()
            context.writeAndFlush(self.wrapOutboundOut(piece), promise: nil)
            if rest.readableBytes > 0 {
                self.drip(exchange, rest, size: size, pause)
            } else {
                self.finish(exchange, exchange.fault?.outcome ?? "ok", aborted: false)
            }
        }
    }

    /// Blanks within an object are JSON of any size; the same 64 KB are sent over and over.
    private func beginHuge(_ exchange: Exchange, _ megabytes: Int) {
        guard let context else { return }
        let reply = Reply(Reply.json, ByteBuffer())
        var bytes = ByteBuffer()
        reply.writeHead(&bytes, length: megabytes << 20, connection: "close")
        bytes.writeStaticString("{")
        hugeRest = megabytes << 20 - 1
        context.write(wrapOutboundOut(bytes), promise: nil)
        streamHuge(exchange)
    }

    func streamHuge(_ exchange: Exchange) {
        guard let context else { return }
        let blanks = ByteBuffer(repeating: UInt8(ascii: " "), count: 65_536)
        while hugeRest > 1, context.channel.isWritable {
            let size = min(blanks.readableBytes, hugeRest - 1)
            hugeRest -= size
            context.writeAndFlush(wrapOutboundOut(blanks.getSlice(at: 0, length: size) ?? blanks), promise: nil)
        }
        guard hugeRest == 1, context.channel.isWritable else { return }
        hugeRest = 0
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(staticString: "}"))).assumeIsolated().whenSuccess {
            self.end(exchange)
        }
    }

    // MARK: Ends

    private func end(_ exchange: Exchange) {
        isClosing = true
        finish(exchange, exchange.fault?.outcome ?? "ok", aborted: false)
        close()
    }

    /// With a linger time of zero, closing sends RST and forgets what was not sent.
    private func reset(_ exchange: Exchange) {
        isClosing = true
        finish(exchange, exchange.fault?.outcome ?? "ok", aborted: false)
        guard let context, let socket = context.channel as? any SocketOptionProvider else { return close() }
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).hop(to: context.eventLoop).assumeIsolated().whenComplete {
            _ in
            self.close()
        }
    }

    private func after(_ time: TimeAmount, _ action: @escaping () -> Void) {
        _ = context?.eventLoop.assumeIsolated().scheduleTask(in: time, action)
    }
}
