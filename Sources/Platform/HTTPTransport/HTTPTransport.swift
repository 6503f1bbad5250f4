public import Basics
internal import CCurl
public import EventLoop
internal import Synchronization

/// Makes HTTP calls with libcurl on an event loop. It supports hundreds of calls in flight and reuses connections. It
/// uses HTTP/2 if TLS negotiates it, and HTTP/1.1 on plain `http`. Redirects are not followed. libcurl's threads look
/// up host names; everything else runs on the loop.
///
/// A call sends its request only once, because providers bill each request. libcurl would send it again if the server
/// closed a reused connection before the first byte of a response. Such a call fails with `staleConnection`.
///
/// Call `send` from tasks that prefer the loop as their executor: any other task is resumed through Swift's thread pool,
/// which costs 10 µs (see docs/internals/concurrency.md, 1).
public actor HTTPTransport: HTTPSending, CurlDriverOwner {
    /// The loop that all calls run on.
    public nonisolated let loop: EventLoop
    /// The loop, as the executor of this actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let configuration: HTTPConfiguration
    private var driver: CurlDriver?
    /// All transfers, both those that serve a call and free ones.
    private var transfers: [Transfer] = []
    private var freeTransfers: [Transfer] = []
    private let lastNumber = Atomic<UInt64>(0)
    private var isShutDown = false
    /// The maximum number of calls whose end is reported in one job of the loop.
    private static let mostAtOnce = 64
    /// True from the scheduling of `reportFinished` until it finds no more finished call.
    private var isReportDue = false
    package private(set) var callsInFlight = 0

    /// True if libcurl was initialized for the process. Swift initializes a static property once, under a lock.
    private static let isProcessReady = locsearch_prepare_process() == CURLE_OK

    /// Makes a transport that opens no connection before its first call.
    public init(loop: EventLoop, configuration: HTTPConfiguration = HTTPConfiguration()) {
        self.loop = loop
        self.configuration = configuration
    }

    /// Begins a call: see `HTTPSending`. Everything runs on the loop, and `end` is called there.
    public nonisolated func begin(
        _ request: HTTPRequest, before deadline: Instant,
        then end: @escaping HTTPCompletion
    ) -> (any Cancellable)? {
        let call = CallNumber(lastNumber.wrappingAdd(1, ordering: .relaxed).newValue, of: self)
        guard loop.isCurrent else {
            Task(executorPreference: loop) { await self.begin(call, request, before: deadline, then: end) }
            return call
        }
        return assumeIsolated { $0.begin(call, request, before: deadline, then: end) } ? call : nil
    }

    /// A call, which is cancelled on the loop in a later job.
    private struct CallNumber: Cancellable {
        let number: UInt64
        private let transport: HTTPTransport

        init(_ number: UInt64, of transport: HTTPTransport) { (self.number, self.transport) = (number, transport) }

        func cancel() {
            Task(executorPreference: transport.loop) { await transport.cancel(number) }
        }
    }

    /// Ends the calls in flight as `cancelled` and closes all connections. Later calls also fail with `cancelled`.
    public func shutdown() {
        isShutDown = true
        for transfer in transfers { abort(transfer) }
        driver?.end()
        freeTransfers.removeAll()
        transfers.removeAll()
        driver = nil
    }

    // MARK: - The course of a call

    /// Returns the size of a call's read buffer, in bytes. curl allocates one more byte, which makes a power of two.
    /// Allocators round sizes slightly above a power of two up by a quarter.
    ///
    /// A buffer that holds a large response saves system calls. With more calls in flight, more of them wait for a slow
    /// provider without reading. Then each buffer's memory matters more, and processor time is less scarce.
    private static func receiveBuffer(with callsInFlight: Int) -> Int {
        switch callsInFlight {
        case ..<64: 65_535
        case ..<256: 32_767
        default: 8_191
        }
    }

    /// Returns a transfer that is ready to begin.
    private func prepareTransfer(
        for request: HTTPRequest, before deadline: Instant
    ) throws(HTTPError) -> (Transfer, CurlDriver) {
        let time = deadline - loop.now
        guard time > .zero else { throw HTTPError(.timeout, "\(request.host): the deadline had passed") }

        let (transfer, driver) = try freeTransfer()
        transfer.setReceiveBuffer(bytes: Self.receiveBuffer(with: callsInFlight))
        do {
            try transfer.prepare(request, before: deadline, in: time)
            return (transfer, driver)
        } catch {
            freeTransfers.append(transfer)
            throw error
        }
    }

    private func freeTransfer() throws(HTTPError) -> (Transfer, CurlDriver) {
        guard !isShutDown else { throw HTTPError(.cancelled, "the transport is shut down") }
        guard Self.isProcessReady, let driver = driver ?? makeDriver() else { throw Self.outOfMemory }
        if let transfer = freeTransfers.popLast() { return (transfer, driver) }

        guard let transfer = Transfer(configuration: configuration, driver: driver) else { throw Self.outOfMemory }
        transfers.append(transfer)

        // curl's limit includes the connections in use.
        driver.keepConnections(transfers.count + max(1, configuration.maxIdleConnections))
        return (transfer, driver)
    }

    private func makeDriver() -> CurlDriver? {
        driver = CurlDriver(owner: self)
        return driver
    }

    /// Begins a call, or ends it at once with the reason why it cannot begin.
    /// - Returns: `false` if the call has ended.
    @discardableResult
    private func begin(
        _ call: CallNumber, _ request: HTTPRequest, before deadline: Instant,
        then end: @escaping HTTPCompletion
    ) -> Bool {
        do throws(HTTPError) {
            try request.validated()
            let (transfer, driver) = try prepareTransfer(for: request, before: deadline)
            (transfer.number, transfer.end) = (call.number, end)
            begin(transfer, driver: driver)
            return transfer.number == call.number
        } catch {
            end(.failure(error))
            return false
        }
    }

    private func begin(_ transfer: Transfer, driver: CurlDriver) {
        callsInFlight += 1
        guard curl_multi_add_handle(driver.multi, transfer.easy) == CURLM_OK else {
            finish(transfer, with: .failure(Self.outOfMemory))
            return
        }

        // Over an open connection this sends the request now.
        driver.handleDue()
        noteFinished(by: driver)
    }

    /// Reports the ends of calls soon, if curl has finished any. Must follow each call into curl that may finish some.
    ///
    /// In one iteration of the loop, curl thus reads all responses that have arrived before any is decoded. The code of
    /// each step stays in the processor's cache while it serves many calls.
    private func noteFinished(by driver: CurlDriver) {
        guard !isReportDue, driver.running < callsInFlight else { return }
        isReportDue = true
        scheduleReport()
    }

    private func scheduleReport() {
        loop.schedule(at: loop.now) { [weak self] in self?.assumeIsolated { $0.reportFinished() } }
    }

    /// Reports the ends of the calls that curl has finished. The end of a call may begin another one, whose end is
    /// reported too if curl finishes it at once. If many calls have ended, a further job continues, and other jobs run
    /// in between.
    private func reportFinished() {
        var code = CURLE_OK
        for _ in 0..<Self.mostAtOnce {
            guard let driver, let easy = locsearch_next_finished(driver.multi, &code) else {
                isReportDue = false
                return
            }
            guard let context = locsearch_get_private(easy) else { continue }
            // Unretained is safe: `transfers` retains every transfer that curl uses.
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()

            let result = transfer.outcome(code)
            curl_multi_remove_handle(driver.multi, easy)
            finish(transfer, with: result)
        }
        scheduleReport()
    }

    /// A linear search is fast enough, because only cancelled calls need it.
    private func cancel(_ number: UInt64) {
        if let transfer = transfers.first(where: { $0.number == number }) { abort(transfer) }
    }

    /// Removes a transfer in progress from curl, which closes its connection (HTTP/1) or resets its stream (HTTP/2).
    private func abort(_ transfer: Transfer) {
        guard transfer.end != nil, let driver else { return }

        curl_multi_remove_handle(driver.multi, transfer.easy)
        finish(transfer, with: .failure(Self.cancelled))
    }

    /// Reports the end of a call that has begun. No other method does.
    private func finish(_ transfer: Transfer, with result: Result<HTTPResponse, HTTPError>) {
        guard let end = transfer.end.take() else { return }

        transfer.number = 0
        callsInFlight -= 1
        freeTransfers.append(transfer)
        end(result)
    }

    /// Handles a readiness event of one of libcurl's sockets.
    public nonisolated func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        assumeIsolated { transport in
            guard let driver = transport.driver else { return }
            driver.ready(fileDescriptor, readiness: readiness)
            transport.noteFinished(by: driver)
        }
    }

    nonisolated func curlTimerFired() {
        assumeIsolated { transport in
            guard let driver = transport.driver else { return }
            driver.timerFired()
            transport.noteFinished(by: driver)
        }
    }

    private static let cancelled = HTTPError(.cancelled, "the call was cancelled")
    /// The error of a call for which libcurl has no memory; a later call may succeed.
    private static let outOfMemory = HTTPError(.connect, "libcurl could not be set up: out of memory")
}
