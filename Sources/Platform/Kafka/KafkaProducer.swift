// Records are declared in Basics, which is re-exported for files that read or write them.
@_exported public import Basics
public import EventLoop
public import Logging

/// An idempotent producer, running on an event loop. A signal announces delivery reports; no thread waits for them.
public actor KafkaProducer: ReadinessHandler {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    public typealias Report = Result<RecordPosition, KafkaError>

    /// Identifies an enqueued record; valid for one `confirm`.
    public struct Receipt: Sendable {
        package let slot: Int

        /// Makes a receipt for tests with a fake producer.
        /// - Parameter slot: The record's entry in the delivery table, from 0.
        package init(slot: Int) { self.slot = slot }
    }

    let client: ClientHandle
    let transactions: TransactionCalls
    let brokers: BrokerWatch
    private let queue: ProducerQueue
    private let log: Logger
    private let deliveries = DeliveryTable()
    /// The longest flush of a transaction's records; `nil` without transactions.
    private let longestFlush: Duration?
    /// The records that wait for a larger batch before librdkafka gets them.
    private var gathering: Gathering
    /// The callers that wait for room in the local queue, in order.
    private var room = Condition()
    private var isStarted = false
    private(set) var isClosed = false

    /// Creates a producer that connects to its brokers. Safe to call from any thread.
    /// - Throws: `configuration` that names the property.
    public init(loop: EventLoop, configuration: ProducerConfiguration, log: Logger) throws(KafkaError) {
        self.loop = loop
        self.log = log
        client = try ClientHandle(
            .producer, properties: configuration.librdkafka(.running), hiding: configuration.secrets, log: log)
        longestFlush = configuration.longestFlush
        queue = ProducerQueue(client)
        transactions = TransactionCalls(loop: loop)
        brokers = BrokerWatch(client, isReporting: false, loop: loop, log: log)
        gathering =
            configuration.gathers
            ? Gathering(linger: configuration.linger, busyLinger: configuration.busyLinger, at: loop.now)
            : Gathering(linger: .zero, busyLinger: .zero, at: loop.now)
    }

    /// The number of enqueued records without a delivery report.
    public var undelivered: Int { deliveries.undelivered }

    /// The client's statistics at the end of the last statistics interval; `nil` before the first one, or if statistics
    /// are off. Safe to call from any thread.
    public nonisolated var statistics: ClientStatistics? { client.statistics.current }

    /// True while records are gathered into larger batches, for tests.
    var isGathering: Bool { gathering.isOn }

    // MARK: - Sending

    /// Enqueues a record and waits for its delivery report.
    /// - Throws: The errors of `handOver` and `confirm`.
    @discardableResult
    public func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
        try await confirm(handOver(record))
    }

    /// Enqueues a record in the local queue. If there is room, this happens before the first suspension, so records
    /// keep the order of the calls. If the queue is full, the call waits. Every receipt must be passed to `confirm`.
    /// - Throws: Why the record cannot be written; `fatal` or `fenced` if the producer has failed permanently.
    public func handOver(_ record: ProducerRecord) async throws(KafkaError) -> Receipt {
        start()
        if !room.isAwaited, let receipt = offer(record) { return try receipt.get() }
        return try await handOverInTurn(record)
    }

    /// Enqueues a record if there is room now, so that no task needs to wait for its delivery report. For callers on
    /// the producer's loop.
    /// - Parameter report: Called once with the delivery report, on the loop and outside any task. If librdkafka
    ///   rejects the record as the last one of a gathered batch, this happens before the function returns.
    /// - Returns: `false` if the record cannot be enqueued now, or the caller is not on the loop. `report` is then
    ///   never called; `handOver` waits, or throws the reason.
    public nonisolated func handOverAtOnce(_ record: ProducerRecord, report: @escaping (Report) -> Void) -> Bool {
        guard loop.isCurrent else { return false }
        // Unsafe only for the compiler: the caller is on the loop, and `report` is called there.
        nonisolated(unsafe) let report = report
        return assumeIsolated { producer in
            producer.start()
            guard !producer.room.isAwaited, case .success(let receipt)? = producer.offer(record) else { return false }
            producer.deliveries.tell(receipt.slot, listener: report)
            return true
        }
    }

    // Kept out of line: see docs/internals/concurrency.md, 2.
    @inline(never)
    private func handOverInTurn(_ record: ProducerRecord) async throws(KafkaError) -> Receipt {
        if room.isAwaited { await suspend(unless: !room.isAwaited) { room.add($0) } }

        while true {
            if let receipt = offer(record) {
                wakeNextForRoom()
                return try receipt.get()
            }

            // Keeps its position at the head of the line; the next report wakes it.
            await suspend(unless: undelivered == 0 || isClosed) { room.addFirst($0) }
        }
    }

    /// - Returns: `nil` if there is no room.
    private func offer(_ record: ProducerRecord) -> Result<Receipt, KafkaError>? {
        if isClosed { return .failure(client.failure ?? .closed) }
        if let failure = client.failure { return .failure(failure) }

        let slot = deliveries.reserve()
        gathering.noteRecord()
        if gathering.isOn {
            deliveries.begin(slot)
            gather(record, slot: slot)
            return .success(Receipt(slot: slot))
        }

        // Gathered records that found no room yet go first.
        switch gathering.isEmpty ? queue.add(record, slot: slot) : .isFull {
        case .queued:
            deliveries.begin(slot)
            return .success(Receipt(slot: slot))
        case .isFull where undelivered > 0:
            deliveries.cancel(slot)
            return nil
        case .isFull:
            deliveries.cancel(slot)
            return .failure(KafkaError(.retriable, "produce to \(record.topic): the local queue is full"))
        case .refused(let error):
            deliveries.cancel(slot)
            return .failure(error)
        }
    }

    /// Waits for a record's delivery report.
    /// - Throws: Why the record was not written, or may not have been.
    public func confirm(_ receipt: Receipt) async throws(KafkaError) -> RecordPosition {
        // An unsafe continuation saves an allocation. The table resumes each continuation that it removes from an
        // entry.
        try await withUnsafeContinuation { waiter in deliveries.await(receipt.slot, waiter) }.get()
    }

    /// Wakes one waiting caller. A caller that enqueues its record wakes the next one; any other returns to the head of
    /// the line.
    private func wakeNextForRoom() { room.signal() }

    // MARK: - Gathering

    private func gather(_ record: ProducerRecord, slot: Int) {
        gathering.add(record, slot: slot)
        if gathering.isFull { return handOverGathered() }

        guard gathering.timer == nil else { return }
        gathering.timer = loop.schedule(at: loop.now + gathering.time) { [weak self] in
            self?.assumeIsolated { $0.endGatheringTime() }
        }
    }

    private func endGatheringTime() {
        gathering.timer = nil
        handOverGathered()
        gathering.look(asleep: loop.asleep, at: loop.now)
    }

    /// Enqueues the gathered records while there is room; the next delivery report continues with the rest.
    private func handOverGathered() {
        while let (record, slot) = gathering.popFirst() {
            if let ended = isClosed ? .closed : client.failure {
                deliveries.finish(slot, .failure(ended))
                continue
            }

            switch queue.add(record, slot: slot) {
            case .queued: break
            // Other records than the gathered ones are unconfirmed: their reports make room.
            case .isFull where undelivered > gathering.count + 1:
                gathering.putBack(record, slot: slot)
                return gathering.end()
            case .isFull:
                let error = KafkaError(.retriable, "produce to \(record.topic): the local queue is full")
                deliveries.finish(slot, .failure(error))
            case .refused(let error):
                deliveries.finish(slot, .failure(error))
            }
        }
    }

    // MARK: - Delivery reports

    /// Begins to serve the client's events, on the loop's thread. The first enqueued record does so too. Call it
    /// earlier for a producer that may send nothing for long, because its statistics events would accumulate.
    public func start() {
        guard !isStarted, !isClosed else { return }
        isStarted = true
        client.signal.connect(client.events, as: 0)
        loop.watch(client.signal.readEnd, for: .read, handler: self)

        // A queue signals when it stops being empty. Events queued earlier, such as a broker outage, would otherwise
        // suppress all signals.
        serveReports()
    }

    public nonisolated func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        assumeIsolated { producer in
            _ = producer.client.signal.drain()
            producer.serveReports()
        }
    }

    private func serveReports() {
        queue.serve(report: { take($1, slot: $0) }, failed: { takeError($0) })

        gathering.look(asleep: loop.asleep, at: loop.now)
        // If gathering has just ended, the gathered records go first, so that they do not delay later ones.
        if !gathering.isOn { handOverGathered() }
        wakeNextForRoom()
    }

    private func take(_ report: DeliveryTable.Report, slot: Int) {
        switch report {
        case .success:
            brokers.noteAnswer()
            deliveries.finish(slot, report)
        case .failure(let error): deliveries.finish(slot, .failure(brokers.explain(error)))
        }
    }

    private func takeError(_ error: KafkaError) {
        // A closed client that a call still uses can be fenced only by its successor, which is expected.
        if isClosed { return }
        if error.kind == .fatal || error.kind == .fenced {
            log.error("producer failed permanently", metadata: ["reason": "\(error)"])
        } else {
            brokers.report(error)
        }
    }

    // MARK: - Closing

    /// Sends all lingering records and waits until no record is unconfirmed.
    ///
    /// With transactions, the wait is at most half of `transaction.timeout.ms`. The end of the transaction then reaches
    /// the coordinator before the coordinator aborts it, which would make the producer unusable. A failed record ends
    /// the wait, because librdkafka then purges the other records of the transaction.
    /// - Returns: Whether all records were delivered within `bound`.
    public func flush(within bound: Duration) async -> Bool {
        guard undelivered > 0, !isClosed, !transactions.hasStrayCall else { return undelivered == 0 }
        handOverGathered()
        await client.flush(within: min(bound, longestFlush ?? bound))
        return undelivered == 0
    }

    /// Frees the client. Records that are still unconfirmed may or may not be written: flush first.
    ///
    /// If a call into librdkafka has not returned, the client is freed when it returns, or at the exit of the process.
    /// librdkafka must not destroy the client earlier. Until then, its events are removed from the queue, so that they
    /// do not accumulate.
    public func close() async {
        guard !isClosed else { return }
        isClosed = true
        transactions.close()
        deliveries.fail(with: .closed)
        wakeNextForRoom()
        if !transactions.hasStrayCall { await free() }
    }

    func free() async {
        if isStarted {
            client.signal.disconnect(client.events)
            loop.unwatch(client.signal.readEnd)
        }
        queue.close()
        await client.destroy()
    }
}
