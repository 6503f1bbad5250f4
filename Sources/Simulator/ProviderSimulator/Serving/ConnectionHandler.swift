internal import NIOCore
internal import NIOHTTP1

/// One connection. It reads requests, answers each before the next, and detects when the client disconnects. It writes
/// bytes instead of HTTP parts, so that an answer takes two buffers and one system call.
///
/// A request passes these steps:
/// - *start*: traffic control counts the request and decides how it is treated;
/// - *wait*: the request waits for a permit if the API serves a limited number at a time;
/// - *serve*: the latency passes;
/// - *answer*: the answer, or the fault instead of it, is written;
/// - *finish*: the request is counted as done, its permit is released, and the next request starts.
///
/// Bytes that are not HTTP, and a body that is too large, close the connection.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    /// The current activity of the connection.
    private enum State {
        /// No request is in progress. The next one starts as soon as it arrives.
        case idle
        /// One request is in progress, and later ones wait.
        case busy(Exchange)
        /// No more requests are read or started. A request in progress ends with the connection.
        case closing(Exchange?)
    }

    let resources: LoopResources
    let traffic: TrafficControl
    private let control: ControlPlane

    private(set) var context: ChannelHandlerContext?
    private var state = State.idle
    /// The parts of a request that is not complete yet.
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    /// Complete requests that wait for earlier ones.
    private var pending = CircularBuffer<IncomingRequest>()
    /// True while `startPending` runs. It prevents a nested call when a request is answered at once.
    private var isStarting = false

    private static let maxBodyBytes = 1 << 20

    init(resources: LoopResources, traffic: TrafficControl, control: ControlPlane) {
        (self.resources, self.traffic, self.control) = (resources, traffic, control)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: - Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }

        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, ByteBuffer())
        case .body(var part):
            guard body.readableBytes + part.readableBytes <= Self.maxBodyBytes else { return close() }
            body.writeBuffer(&part)
        case .end:
            guard let head else { return }
            self.head = nil
            pending.append(IncomingRequest(head: head, body: body))
            startPending()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

    /// Starts waiting requests until one of them is in progress.
    private func startPending() {
        guard !isStarting else { return }

        isStarting = true
        while case .idle = state, let request = pending.popFirst() { start(request) }
        isStarting = false
    }

    // MARK: - The steps of a request

    private func start(_ request: IncomingRequest) {
        if request.path.hasPrefix("/_sim/") { return send(control.reply(to: request), uncounted: request) }
        // Pictures belong to no provider's API. They are sent at once and are not counted.
        if request.path.hasPrefix(Picture.pathPrefix) { return send(Picture.reply(to: request), uncounted: request) }

        let plan = request.plan
        let admission = traffic.arrive(request, plan: plan, roll: resources.numbers.unit())
        let exchange = Exchange(request, plan: plan, admission: admission)
        state = .busy(exchange)

        if admission.isGated, let api = request.endpoint.api {
            waitForPermit(exchange, api: api)
        } else {
            serve(exchange)
        }
    }

    private func send(_ reply: Reply, uncounted request: IncomingRequest) {
        let exchange = Exchange(request)
        state = .busy(exchange)
        send(reply, for: exchange)
    }

    private func waitForPermit(_ exchange: Exchange, api: ProviderAPI) {
        guard let loop = context?.eventLoop else { return }

        let bound = NIOLoopBound((self, exchange), eventLoop: loop)
        let hasPermit = traffic.enter(api) {
            loop.execute {
                let (handler, exchange) = bound.value
                exchange.holdsPermit = true
                handler.serve(exchange)
            }
        }

        if hasPermit {
            exchange.holdsPermit = true
            serve(exchange)
        }
    }

    /// Waits for the latency, then answers.
    private func serve(_ exchange: Exchange) {
        let latency = exchange.admission?.latency.sample(&resources.numbers) ?? 0
        let delay = latency + exchange.delayMicroseconds
        // After a disconnect, the channel has no context. A real server would be just as busy.
        guard delay > 0 else { return answer(exchange) }
        resources.loop.assumeIsolated().scheduleTask(in: .microseconds(Int64(delay))) { self.answer(exchange) }
    }

    private func answer(_ exchange: Exchange) {
        guard exchange.phase == .pending else { return releasePermit(of: exchange) }

        exchange.phase = .answering
        if let fault = exchange.fault {
            apply(fault, for: exchange)
        } else {
            send(answer(to: exchange), for: exchange)
        }
    }

    /// Returns the correct answer, which the provider bills even if it then fails to arrive.
    func answer(to exchange: Exchange) -> Reply {
        let reply = Answers.reply(to: exchange.request, with: resources)
        if let sku = reply.sku, exchange.admission != nil { traffic.bill(exchange.request.endpoint, sku: sku) }
        return reply
    }

    /// Counts the request as done, and starts the next one unless the connection closes. Later calls do nothing.
    func finish(_ exchange: Exchange, outcome: String, isAborted: Bool) {
        guard exchange.phase != .finished, exchange.phase != .abandoned else { return }
        exchange.phase = .finished

        count(exchange, outcome: outcome, isAborted: isAborted)
        releasePermit(of: exchange)

        switch state {
        case .busy(let current) where current === exchange:
            state = .idle
            if exchange.request.isKeptAlive { startPending() } else { close() }
        case .closing(let current?) where current === exchange: state = .closing(nil)
        default: break
        }
    }

    private func count(_ exchange: Exchange, outcome: String, isAborted: Bool) {
        guard exchange.admission != nil else { return }
        traffic.finish(exchange.request.endpoint, outcome: outcome, isAborted: isAborted)
    }

    private func releasePermit(of exchange: Exchange) {
        guard exchange.holdsPermit, let api = exchange.request.endpoint.api else { return }
        exchange.holdsPermit = false
        traffic.leave(api)
    }

    // MARK: - Closing

    private var isClosing: Bool {
        if case .closing = state { true } else { false }
    }

    /// Stops reading and starting requests. The caller closes the channel after its last write.
    func beginClosing() {
        switch state {
        case .idle: state = .closing(nil)
        case .busy(let exchange): state = .closing(exchange)
        case .closing: break
        }
    }

    func close() {
        beginClosing()
        context?.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let exchange = current
        state = .closing(nil)
        pending.removeAll()

        switch exchange?.phase {
        case .answering?:
            if let exchange { finish(exchange, outcome: exchange.fault?.outcome ?? "aborted", isAborted: true) }
        case .pending?:
            if let exchange { abandon(exchange) }
        case .abandoned?, .finished?, nil: break
        }
        context.fireChannelInactive()
    }

    private var current: Exchange? {
        switch state {
        case .idle: nil
        case .busy(let exchange): exchange
        case .closing(let exchange): exchange
        }
    }

    /// Counts a request whose client disconnected before the answer began.
    ///
    /// Most servers do not notice that, so the request still waits for its permit and uses it.
    private func abandon(_ exchange: Exchange) {
        exchange.phase = .abandoned
        count(exchange, outcome: "aborted", isAborted: true)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, let current, current.hugeBytesLeft > 0 { streamHugeBody(for: current) }
        context.fireChannelWritabilityChanged()
    }
}
