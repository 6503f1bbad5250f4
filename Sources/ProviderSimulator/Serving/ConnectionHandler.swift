internal import NIOCore
internal import NIOHTTP1

/// One connection: takes requests one after another, answers each before the next, notices when the client goes away.
/// Writes bytes, not HTTP parts: an answer is two buffers and one system call.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Item {
        case request(IncomingRequest)
        /// Answered with this page, then closed.
        case refusal(Int, String)
    }

    let workshop: Workshop
    let traffic: TrafficControl
    private let control: ControlPlane

    private var head: HTTPRequestHead?
    private var body: ByteBuffer?
    private var isTooLarge = false
    private var discarded = 0
    /// Pipelined requests.
    private var waiting = CircularBuffer<Item>()
    private var isReadHeldBack = false
    private var isPumping = false
    var current: Exchange?
    var isClosing = false
    private(set) var context: ChannelHandlerContext?
    /// What is left of a huge body, in bytes.
    var hugeRest = 0

    private static let maxURIBytes = 16_384
    /// More pipelined requests than this stay in the socket.
    private static let maxWaiting = 32
    /// Of a body that is too large anyway.
    private static let maxDiscarded = 64 << 20

    init(workshop: Workshop, traffic: TrafficControl, control: ControlPlane) {
        (self.workshop, self.traffic, self.control) = (workshop, traffic, control)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: Reading

    func read(context: ChannelHandlerContext) {
        if waiting.count < Self.maxWaiting { context.read() } else { isReadHeldBack = true }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            (body, isTooLarge, discarded) = (nil, false, 0)
            if current == nil, head.headers.first(name: "Expect")?.lowercased() == "100-continue" {
                context.writeAndFlush(
                    wrapOutboundOut(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
            }
        case .body(var part):
            if (body?.readableBytes ?? 0) + part.readableBytes > workshop.configuration.maxRequestBytes {
                isTooLarge = true
            }
            if isTooLarge {
                discarded += part.readableBytes
                body = nil
                if discarded > Self.maxDiscarded { close() }
            } else if body == nil {
                body = part
            } else {
                body?.writeBuffer(&part)
            }
        case .end:
            guard let head else { return }
            defer { (self.head, body) = (nil, nil) }
            if head.uri.utf8.count > Self.maxURIBytes {
                waiting.append(.refusal(414, "URI Too Long"))
            } else if isTooLarge {
                waiting.append(.refusal(413, "Payload Too Large"))
            } else if current == nil, waiting.isEmpty, !isPumping {
                isPumping = true
                start(IncomingRequest(head: head, body: body))
                isPumping = false
            } else {
                waiting.append(.request(IncomingRequest(head: head, body: body)))
            }
            pump()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError else { return close() }
        head = nil
        waiting.append(.refusal(400, "Bad Request"))
        pump()
    }

    /// Starts what waits. Not recursive, however many requests come at once.
    func pump() {
        guard !isPumping else { return }
        isPumping = true
        while current == nil, !isClosing, let item = waiting.popFirst() {
            switch item {
            case .request(let request): start(request)
            case .refusal(let status, let title): refuse(status, title)
            }
        }
        isPumping = false
        if isReadHeldBack, waiting.count < Self.maxWaiting {
            isReadHeldBack = false
            context?.read()
        }
    }

    // MARK: The way of a request

    private func start(_ request: IncomingRequest) {
        if request.path.hasPrefix("/_sim/") {
            let exchange = Exchange(request, plan: nil, admission: nil)
            current = exchange
            return send(control.reply(to: request), exchange)
        }
        let plan = request.plan
        var key = Fingerprint()
        key.combine((request.key ?? "").utf8)
        let admission = traffic.arrive(
            TrafficControl.Arrival(
                endpoint: request.endpoint, fingerprint: request.fingerprint, keyFingerprint: key.value, plan: plan,
                roll: workshop.numbers.unit(), uri: request.uri, body: request.loggedBody))
        let exchange = Exchange(request, plan: plan, admission: admission)
        current = exchange
        if admission.isOverQuota {
            let hint = admission.retryAfter.map { RetryHint.seconds($0) }
            var reply = Answers.error(.rateLimited, hint, to: request)
            reply.outcome = "over-quota"
            return send(reply, exchange)
        }
        guard admission.isGated, let api = request.endpoint.api else { return serve(exchange) }
        enter(api, exchange)
    }

    private func enter(_ api: ProviderAPI, _ exchange: Exchange) {
        guard let loop = context?.eventLoop else { return }
        let bound = NIOLoopBound((self, exchange), eventLoop: loop)
        let entry = traffic.enter(api) {
            loop.execute {
                let (handler, exchange) = bound.value
                exchange.holdsPlace = true
                handler.serve(exchange)
            }
        }
        switch entry {
        case .now:
            exchange.holdsPlace = true
            serve(exchange)
        case .later: break
        case .full: send(Reply.page(503, "Service Unavailable"), exchange)
        }
    }

    /// Its turn has come: takes its time, then answers.
    private func serve(_ exchange: Exchange) {
        if exchange.isAbandoned, exchange.admission?.servesAbandoned != true { return leave(exchange) }
        let latency = exchange.admission?.latency.sample(&workshop.numbers) ?? 0
        let delay = latency + exchange.delayMicroseconds
        // A client that has gone away took its channel's context along; a server would be as busy all the same.
        guard delay > 0, let loop = context?.eventLoop ?? workshop.loop else { return answer(exchange) }
        exchange.timer = loop.assumeIsolated().scheduleTask(in: .microseconds(Int64(delay))) { self.answer(exchange) }
    }

    private func answer(_ exchange: Exchange) {
        guard !exchange.isAbandoned else { return leave(exchange) }
        exchange.isAnswering = true
        if let fault = exchange.fault { return play(fault, exchange) }
        send(Answers.reply(to: exchange.request, in: workshop), exchange)
    }

    /// Writes an answer as it should be.
    func send(_ reply: Reply, _ exchange: Exchange) {
        guard let context else { return }
        var reply = reply
        exchange.isAnswering = true
        let request = exchange.request
        if workshop.configuration.gzip, reply.body.readableBytes > 512, request.acceptsGzip,
            exchange.fault != .damagedGzip
        {
            reply.body = StoredGzip.encode(reply.body)
            reply.headers.append(("Content-Encoding", "gzip"))
        }
        let hasBody = request.method != .HEAD && reply.status != 304 && reply.status != 204
        var head = workshop.allocator.buffer(capacity: 256)
        reply.writeHead(&head, length: reply.body.readableBytes, connection: request.connectionHeader)
        let outcome = reply.outcome
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .success: self.finish(exchange, outcome, aborted: false)
            case .failure: self.finish(exchange, "aborted", aborted: true)
            }
        }
        if hasBody, reply.body.readableBytes > 0 {
            context.write(wrapOutboundOut(head), promise: nil)
            context.writeAndFlush(wrapOutboundOut(reply.body), promise: promise)
        } else {
            context.writeAndFlush(wrapOutboundOut(head), promise: promise)
        }
    }

    private func refuse(_ status: Int, _ title: String) {
        guard let context else { return }
        isClosing = true
        let reply = Reply.page(status, title)
        var bytes = ByteBuffer()
        reply.writeHead(&bytes, length: reply.body.readableBytes, connection: "close")
        bytes.writeImmutableBuffer(reply.body)
        context.writeAndFlush(wrapOutboundOut(bytes)).assumeIsolated().whenComplete { _ in self.close() }
    }

    // MARK: Ends

    func finish(_ exchange: Exchange, _ outcome: String, aborted: Bool) {
        guard !exchange.isFinished else { return }
        exchange.isFinished = true
        if let admission = exchange.admission {
            traffic.finish(admission.number, exchange.request.endpoint, outcome, aborted: aborted)
        }
        leave(exchange)
        guard current === exchange else { return }
        current = nil
        if isClosing { return }  // whoever said so knows how: by a reset, perhaps
        if !exchange.request.isKeptAlive { return close() }
        pump()
    }

    private func leave(_ exchange: Exchange) {
        guard exchange.holdsPlace, let api = exchange.request.endpoint.api else { return }
        exchange.holdsPlace = false
        traffic.leave(api)
    }

    func close() {
        isClosing = true
        context?.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        isClosing = true
        waiting.removeAll()
        guard let exchange = current else { return context.fireChannelInactive() }
        current = nil
        if exchange.isAnswering {
            finish(exchange, exchange.fault?.outcome ?? "aborted", aborted: true)
        } else {
            abandon(exchange)
        }
        context.fireChannelInactive()
    }

    /// Waiting for its turn or being served: most servers do not notice.
    private func abandon(_ exchange: Exchange) {
        exchange.isAbandoned = true
        guard !exchange.isFinished, let admission = exchange.admission else { return }
        exchange.isFinished = true
        traffic.finish(admission.number, exchange.request.endpoint, "aborted", aborted: true)
        guard !admission.servesAbandoned else { return }
        exchange.timer?.cancel()
        leave(exchange)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, hugeRest > 0, let current { streamHuge(current) }
        context.fireChannelWritabilityChanged()
    }
}

extension IncomingRequest {
    var acceptsGzip: Bool { headers.first(name: "Accept-Encoding")?.contains("gzip") ?? false }

    /// Said only where the protocol's version does not say it already.
    var connectionHeader: StaticString? {
        isKeptAlive ? (isVersion10 ? "keep-alive" : nil) : "close"
    }
}
