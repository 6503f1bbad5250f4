internal import Basics
public import EventLoop
public import Logging

/// Writes records idempotently, living on an event loop. Delivery reports come by signal; no thread waits for them.
public actor KafkaProducer: ReadinessHandler {
    /// The loop that the producer lives on.
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The result of writing a record.
    public typealias Report = Result<RecordPosition, KafkaError>

    /// Stands for a record that was handed over; good for one `confirm`.
    public struct Receipt: Sendable {
        package let slot: Int

        /// Makes a receipt by hand, for tests with a fake producer.
        /// - Parameter slot: Where the producer keeps what becomes of the record, from 0.
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
    /// The records that wait for a larger batch on this side of librdkafka.
    private var gathering: Gathering
    /// The hand-overs that found the local queue full, in order.
    private var room = Condition()
    private var isStarted = false
    private(set) var isClosed = false

    /// Makes a producer that connects to its brokers. May be called from any thread.
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

    /// How many records are handed over and not yet reported by the brokers.
    public var undelivered: Int { deliveries.undelivered }

    /// The size of their values.
    public var undeliveredBytes: Int { deliveries.undeliveredBytes }

    /// The client's figures at the end of the last statistics interval; `nil` before that, or without one. May
    /// be asked for from any thread.
    public nonisolated var statistics: ClientStatistics? { client.statistics.current }

    /// True while records wait for a larger batch, for tests.
    var isGathering: Bool { gathering.isOn }

    // MARK: - Sending

    /// Hands a record over and returns once the brokers have confirmed it.
    /// - Throws: As `handOver` and `confirm`.
    @discardableResult
    public func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
        try await confirm(handOver(record))
    }

    /// Puts a record into the local queue: in the order of the calls, before the first suspension where there is room.
    /// A full queue makes the call wait, not fail. Every receipt must be given to `confirm`.
    /// - Throws: Why the record cannot be written; `fatal` or `fenced` when nothing more can be.
    public func handOver(_ record: ProducerRecord) async throws(KafkaError) -> Receipt {
        start()
        if !room.isAwaited, let receipt = offer(record) { return try receipt.get() }
        return try await handOverInTurn(record)
    }

    /// Puts a record into the local queue where there is room at once, so that no task need wait for its report. For callers
    /// on the producer's loop.
    /// - Parameter report: Called once with what became of the record, on the loop and outside any task; before this returns
    ///   where librdkafka refuses the record as the last of a batch that was gathered.
    /// - Returns: `false` where the record cannot be put there now, or the caller is not on the loop. `report` is then never
    ///   called, and `handOver` says why, or waits.
    public nonisolated func handOverAtOnce(_ record: ProducerRecord, report: @escaping (Report) -> Void) -> Bool {
        guard loop.isCurrent else { return false }
        // Unsafe for the compiler alone: the caller is on the loop, and `report` is called there.
        nonisolated(unsafe) let report = report
        return assumeIsolated { producer in
            producer.start()
            guard !producer.room.isAwaited, case .success(let receipt)? = producer.offer(record) else {
                return false
            }
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

            // Stays at the head of the line; the next report wakes it.
            await suspend(unless: undelivered == 0 || isClosed) { room.addFirst($0) }
        }
    }

    /// - Returns: `nil` when there is no room.
    private func offer(_ record: ProducerRecord) -> Result<Receipt, KafkaError>? {
        if isClosed { return .failure(client.failure ?? .closed) }
        if let failure = client.failure { return .failure(failure) }

        let slot = deliveries.reserve()
        gathering.noteRecord()
        if gathering.isOn {
            deliveries.begin(slot, bytes: record.value?.count ?? 0)
            gather(record, slot: slot)
            return .success(Receipt(slot: slot))
        }

        // Records that were gathered and have found no room yet go first.
        switch gathering.isEmpty ? queue.add(record, slot: slot) : .isFull {
        case .queued:
            deliveries.begin(slot, bytes: record.value?.count ?? 0)
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

    /// Returns once the brokers have confirmed the record.
    /// - Throws: Why it was not, or may not have been, written.
    public func confirm(_ receipt: Receipt) async throws(KafkaError) -> RecordPosition {
        // An unsafe continuation saves an allocation. The table resumes whatever it takes out of an entry.
        try await withUnsafeContinuation { waiter in deliveries.await(receipt.slot, waiter) }.get()
    }

    /// One at a time: a task that gets its record in wakes the next, another goes back to the head of the line.
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

    /// Hands over what was gathered, as far as there is room; the next report sees to the rest.
    private func handOverGathered() {
        while let (record, slot) = gathering.first {
            if let ended = isClosed ? .closed : client.failure {
                gathering.removeFirst()
                deliveries.finish(slot, .failure(ended))
                continue
            }

            switch queue.add(record, slot: slot) {
            case .queued:
                gathering.removeFirst()
            case .isFull where undelivered > gathering.count:
                return gathering.end()
            case .isFull:
                gathering.removeFirst()
                let error = KafkaError(.retriable, "produce to \(record.topic): the local queue is full")
                deliveries.finish(slot, .failure(error))
            case .refused(let error):
                gathering.removeFirst()
                deliveries.finish(slot, .failure(error))
            }
        }
    }

    // MARK: - Reports

    /// Begins to serve the client's events, on the loop's thread. The first hand-over does so too; a producer that may have
    /// nothing to send for long is started before, because its statistics would pile up unread.
    public func start() {
        guard !isStarted, !isClosed else { return }
        isStarted = true
        client.signal.connect(client.events, as: 0)
        loop.watch(client.signal.readEnd, for: .read, handler: self)

        // A queue tells when it stops being empty: what came before (no broker answered) would keep it silent for good.
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
        // Where gathering has just ended, what still waits must not stand in the way of what comes next.
        if !gathering.isOn { handOverGathered() }
        wakeNextForRoom()
    }

    private func take(_ report: DeliveryTable.Report, slot: Int) {
        switch report {
        case .success: deliveries.finish(slot, report)
        case .failure(let error): deliveries.finish(slot, .failure(brokers.explain(error)))
        }
    }

    private func takeError(_ error: KafkaError) {
        // A client that is held by a call is fenced by its successor, and by nobody else.
        if isClosed { return }
        if error.kind == .fatal || error.kind == .fenced {
            log.error("producer failed for good", metadata: ["reason": "\(error)"])
        } else {
            brokers.report(error)
        }
    }

    // MARK: - The end

    /// Sends what still lingers and waits until no record is unconfirmed any more.
    ///
    /// The records of a transaction are waited for no longer than half of `transaction.timeout.ms`, so that the transaction's
    /// end reaches the coordinator before that gives the transaction up, which would end the producer. A record that fails
    /// ends the wait: librdkafka then purges the others of its transaction.
    /// - Returns: Whether that was reached within `bound`.
    public func flush(within bound: Duration) async -> Bool {
        guard undelivered > 0, !isClosed, !transactions.hasStrayCall else { return undelivered == 0 }
        handOverGathered()
        await client.flush(within: min(bound, longestFlush ?? bound))
        return undelivered == 0
    }

    /// Frees the client. Records still on their way may or may not be written: flush first.
    ///
    /// A client that a call holds is freed when the call returns, and by the process's exit at the latest: librdkafka must not
    /// destroy it before. Until then its events are taken out of its queue, where they would pile up.
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
