internal import CCurl
package import EventLoop

/// Makes HTTP calls with libcurl on an event loop: hundreds in flight, connections reused, HTTP/2 where TLS offers it.
/// Host names are resolved by libcurl's own resolver threads; everything else runs on the loop.
package actor HTTPTransport: HTTPSending, ReadinessHandler {
    package nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Counts since the start.
    package struct Statistics: Sendable, Hashable {
        package var inFlight = 0
        package var calls = 0
        package var connectionsOpened = 0
    }

    private let configuration: HTTPConfiguration
    private var driver: CurlDriver?
    private var transfers: [Transfer] = []
    private var free: [Transfer] = []
    private var nextSerial: UInt64 = 0
    private var isShutDown = false
    private(set) package var statistics = Statistics()

    /// curl's global state, set up once in a process; a static is initialised under a lock.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    package init(loop: EventLoop, configuration: HTTPConfiguration = HTTPConfiguration()) {
        self.loop = loop
        self.configuration = configuration
    }

    package func send(
        _ request: HTTPRequest, before deadline: ContinuousClock.Instant
    ) async throws(HTTPError) -> HTTPResponse {
        try request.validated()
        let time = deadline - .now
        guard time > .zero else { throw HTTPError(.timeout, "\(request.host): the deadline had passed") }
        guard let (transfer, driver) = transferReady() else {
            throw HTTPError(.cancelled, "the transport is shut down")
        }
        nextSerial += 1
        let (place, serial) = (transfer.place, nextSerial)
        transfer.serial = serial
        transfer.prepare(request, within: time)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.continuation = continuation
                begin(transfer, driver)
            }
        } onCancel: {
            Task { await self.cancel(place, serial) }
        }
        return try result.get()
    }

    /// Ends what is in flight (`cancelled`) and closes all connections. Nothing is sent afterwards.
    package func shutdown() {
        isShutDown = true
        for transfer in transfers { abort(transfer) }
        driver?.stop()
        free.removeAll()
        transfers.removeAll()
        driver = nil
    }

    private func transferReady() -> (Transfer, CurlDriver)? {
        guard !isShutDown, Self.isReady else { return nil }
        if driver == nil {
            driver = CurlDriver(loop: loop, configuration: configuration) { [weak self] in
                self?.assumeIsolated { $0.timerFired() }
            }
            driver?.attach(self)
        }
        guard let driver else { return nil }
        if let transfer = free.popLast() { return (transfer, driver) }
        guard let transfer = Transfer(place: transfers.count, configuration: configuration, driver: driver) else {
            return nil
        }
        transfers.append(transfer)
        return (transfer, driver)
    }

    private func begin(_ transfer: Transfer, _ driver: CurlDriver) {
        statistics.calls += 1
        statistics.inFlight += 1
        guard !Task.isCancelled, curl_multi_add_handle(driver.multi, transfer.easy) == CURLM_OK else {
            finish(transfer, .failure(HTTPError(.cancelled, "the request was cancelled")))
            return
        }
        // A new transfer wants to be called at once.
        driver.timeout()
        collect(driver)
    }

    private func cancel(_ place: Int, _ serial: UInt64) {
        guard transfers.indices.contains(place), transfers[place].serial == serial else { return }
        abort(transfers[place])
    }

    /// Takes a running transfer out of curl, which closes its connection (HTTP/1) or resets its stream (HTTP/2).
    private func abort(_ transfer: Transfer) {
        guard transfer.continuation != nil, let driver else { return }
        curl_multi_remove_handle(driver.multi, transfer.easy)
        finish(transfer, .failure(HTTPError(.cancelled, "the request was cancelled")))
    }

    private func finish(_ transfer: Transfer, _ result: Result<HTTPResponse, HTTPError>) {
        guard let continuation = transfer.continuation else { return }
        transfer.continuation = nil
        transfer.serial = 0
        statistics.inFlight -= 1
        free.append(transfer)
        continuation.resume(returning: result)
    }

    private func collect(_ driver: CurlDriver) {
        var code = CURLE_OK
        while let easy = locsearch_next_finished(driver.multi, &code) {
            guard let context = locsearch_get_private(easy) else { continue }
            // Transfers live as long as the transport: see `Transfer.init`.
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            statistics.connectionsOpened += locsearch_get_long(easy, CURLINFO_NUM_CONNECTS)
            let result = transfer.outcome(code)
            curl_multi_remove_handle(driver.multi, easy)
            finish(transfer, result)
        }
    }

    private func timerFired() {
        guard let driver else { return }
        driver.timeout()
        collect(driver)
    }

    package nonisolated func ready(_ fileDescriptor: Int32, _ readiness: Readiness) {
        assumeIsolated { transport in
            guard let driver = transport.driver else { return }
            driver.ready(fileDescriptor, readiness)
            // curl may ask to be called at once.
            if let due = driver.due, due <= .now { driver.timeout() }
            transport.collect(driver)
        }
    }
}
