internal import CCurl
public import EventLoop

/// Makes HTTP calls with libcurl on an event loop: hundreds in flight, connections reused, HTTP/2 where TLS offers it,
/// HTTP/1.1 on plain `http`. Redirects are not followed. Host names are looked up on threads of libcurl's, everything
/// else runs on the loop.
///
/// A call that finds its kept connection closed by the server before the first byte of the answer is repeated by libcurl
/// on a new one, `POST` too: what is sent here are searches, free of side effects.
///
/// A task that prefers the loop as its executor is resumed on it directly; any other takes a detour through Swift's
/// thread pool (10 µs).
public actor HTTPTransport: HTTPSending, ReadinessHandler {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Counts since the start, but for `inFlight`.
    public struct Statistics: Sendable, Hashable {
        public var inFlight = 0
        public var calls = 0
        public var connectionsOpened = 0
        /// Calls that were served over a connection of an earlier one.
        public var connectionsReused = 0
    }

    private let configuration: HTTPConfiguration
    private var driver: CurlDriver?
    private var transfers: [Transfer] = []
    private var free: [Transfer] = []
    private var nextSerial: UInt64 = 0
    private var isShutDown = false
    public private(set) var statistics = Statistics()

    /// Once in a process: a static is initialised under a lock.
    private static let isReady = locsearch_prepare_process() == CURLE_OK

    public init(loop: EventLoop, configuration: HTTPConfiguration = HTTPConfiguration()) {
        self.loop = loop
        self.configuration = configuration
    }

    public func send(
        _ request: HTTPRequest, before deadline: ContinuousClock.Instant,
        receiving receive: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(HTTPError) {
        try request.validated()
        nextSerial += 1
        let serial = nextSerial
        let failure = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                // In here nothing else runs on the loop; at an `await` something may, a shutdown or a cancellation too.
                do throws(HTTPError) {
                    let (transfer, driver) = try take(request, before: deadline)
                    transfer.serial = serial
                    transfer.caller = Transfer.Caller(continuation: continuation, receive: receive)
                    begin(transfer, driver)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        } onCancel: {
            // One that comes before the call has begun finds nothing, and the call finds its task cancelled.
            Task { await self.cancel(serial) }
        }
        if let failure { throw failure }
    }

    /// Ends what is in flight (`cancelled`) and closes all connections. Nothing is sent afterwards.
    public func shutdown() {
        isShutDown = true
        for transfer in transfers { abort(transfer, Self.cancelled) }
        driver?.end()
        free.removeAll()
        transfers.removeAll()
        driver = nil
    }

    // MARK: - A call's way

    /// So many calls have room to read a large answer at once, which saves the system work. Where there are more, they
    /// wait for a slow provider: processor time is not what is short then, and memory counts for each.
    private static let fewCalls = 64

    /// A transfer for the call, ready to begin.
    private func take(
        _ request: HTTPRequest, before deadline: ContinuousClock.Instant
    ) throws(HTTPError) -> (Transfer, CurlDriver) {
        let time = deadline - .now
        guard time > .zero else { throw HTTPError(.timeout, "\(request.host): the deadline had passed") }
        guard !Task.isCancelled else { throw Self.cancelled }
        let (transfer, driver) = try takeFree()
        transfer.receive(statistics.inFlight < Self.fewCalls ? 65_536 : 32_768)
        do {
            try transfer.prepare(request, before: deadline, in: time)
            return (transfer, driver)
        } catch {
            free.append(transfer)
            throw error
        }
    }

    /// A transfer that is free, or a new one.
    private func takeFree() throws(HTTPError) -> (Transfer, CurlDriver) {
        guard !isShutDown else { throw HTTPError(.cancelled, "the transport is shut down") }
        guard Self.isReady, let driver = driver ?? makeDriver() else { throw Self.outOfMemory }
        if let transfer = free.popLast() { return (transfer, driver) }
        guard let transfer = Transfer(configuration: configuration, driver: driver) else {
            throw Self.outOfMemory
        }
        transfers.append(transfer)
        // curl counts connections in use as well.
        driver.keepConnections(transfers.count + max(1, configuration.maxIdleConnections))
        return (transfer, driver)
    }

    private func makeDriver() -> CurlDriver? {
        driver = CurlDriver(transport: self, configuration: configuration)
        return driver
    }

    private func begin(_ transfer: Transfer, _ driver: CurlDriver) {
        statistics.calls += 1
        statistics.inFlight += 1
        guard curl_multi_add_handle(driver.multi, transfer.easy) == CURLM_OK else {
            finish(transfer, .failure(Self.outOfMemory))
            return
        }
        if configuration.maxConnectionsPerHost > 0 { guardDeadline(of: transfer) }
        // Sends at once, over a connection that is open.
        driver.timeout()
        collect(driver)
    }

    /// curl does not count the time that a call waits for a connection.
    private func guardDeadline(of transfer: Transfer) {
        let serial = transfer.serial
        // A little later than curl, which knows more about a call that has begun.
        transfer.guardTimer = loop.schedule(at: transfer.deadline + .milliseconds(5)) { [self] in
            assumeIsolated { transport in
                guard let transfer = transport.transfer(serial) else { return }
                transfer.guardTimer = nil
                transport.abort(transfer, transfer.failure(CURLE_OPERATION_TIMEDOUT))
            }
        }
    }

    /// Ends the calls that curl is done with.
    private func collect(_ driver: CurlDriver) {
        var code = CURLE_OK
        while let easy = locsearch_next_finished(driver.multi, &code) {
            guard let context = locsearch_get_private(easy) else { continue }
            // Unretained is safe: `transfers` keeps every transfer that curl has.
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            let result = transfer.outcome(code)
            countConnections(transfer, isAnswered: code == CURLE_OK)
            curl_multi_remove_handle(driver.multi, easy)
            finish(transfer, result)
        }
    }

    private func cancel(_ serial: UInt64) {
        if let transfer = transfer(serial) { abort(transfer, Self.cancelled) }
    }

    /// The transfer that still serves that call. A search: asked for cancelled and late calls only.
    private func transfer(_ serial: UInt64) -> Transfer? { transfers.first { $0.serial == serial } }

    /// Takes a transfer under way out of curl, which closes its connection (HTTP/1) or resets its stream (HTTP/2).
    private func abort(_ transfer: Transfer, _ error: HTTPError) {
        guard transfer.caller != nil, let driver else { return }
        countConnections(transfer, isAnswered: false)
        curl_multi_remove_handle(driver.multi, transfer.easy)
        finish(transfer, .failure(error))
    }

    /// The one place where a call's continuation is resumed.
    private func finish(_ transfer: Transfer, _ result: Result<HTTPResponse, HTTPError>) {
        guard let caller = transfer.caller else { return }
        transfer.caller = nil
        transfer.serial = 0
        if let timer = transfer.guardTimer {
            loop.cancel(timer)
            transfer.guardTimer = nil
        }
        statistics.inFlight -= 1
        free.append(transfer)
        switch result {
        case .success(let response):
            caller.receive(response)
            caller.continuation.resume(returning: nil)
        case .failure(let error): caller.continuation.resume(returning: error)
        }
    }

    private func countConnections(_ transfer: Transfer, isAnswered: Bool) {
        let opened = locsearch_get_long(transfer.easy, CURLINFO_NUM_CONNECTS)
        statistics.connectionsOpened += opened
        if opened == 0, isAnswered { statistics.connectionsReused += 1 }
    }

    public nonisolated func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        assumeIsolated { transport in
            guard let driver = transport.driver else { return }
            driver.ready(fileDescriptor, readiness)
            transport.collect(driver)
        }
    }

    /// For the driver, on the loop.
    nonisolated func timerFired() {
        assumeIsolated { transport in
            guard let driver = transport.driver else { return }
            driver.timerFired()
            transport.collect(driver)
        }
    }

    private static let cancelled = HTTPError(.cancelled, "the call was cancelled")
    /// No call can be made for now.
    private static let outOfMemory = HTTPError(.connect, "libcurl could not be set up: out of memory")
}
