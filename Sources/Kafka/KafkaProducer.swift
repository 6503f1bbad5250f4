internal import CRdkafka
internal import DequeModule
public import EventLoop
public import Logging

/// Writes records idempotently, living on an event loop. Delivery reports come by signal; no thread waits for them.
public actor KafkaProducer: ReadinessHandler {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private typealias Report = Result<RecordPosition, KafkaError>

    /// A record on its way.
    private enum Passage {
        case free
        case underway
        case awaited(UnsafeContinuation<Report, Never>)
        case reported(Report)
    }

    /// Stands for a record that was handed over; good for one `confirm`.
    public struct Receipt: Sendable {
        let slot: Int

        /// Makes a receipt by hand, for tests with a fake producer.
        /// - Parameter slot: Where the producer keeps what becomes of the record, from 0.
        package init(slot: Int) { self.slot = slot }
    }

    // Sendable by hand: librdkafka's clients may be used from any thread; destroyed in `close`, after the last use.
    private nonisolated(unsafe) let client: OpaquePointer
    private nonisolated(unsafe) let mainQueue: OpaquePointer
    private let signal: QueueSignal
    private let log: Logger
    private let clientLog: ClientLog
    private let blocking = BlockingThread("kafka-producer")
    /// `nil`: not yet.
    private var transactionsEnd: ContinuousClock.Instant?
    /// Who waits for the call about a transaction that is under way.
    private var transactionCaller: CheckedContinuation<KafkaError?, Never>?
    /// A call about a transaction that nobody waits for any more still has the client.
    private var isHeld = false
    private var topics: [String: OpaquePointer] = [:]

    /// Records on their way; a record's opaque is its place in here, plus one.
    private var passages: [Passage] = []
    private var freePlaces: [Int] = []
    /// Sends that found the local queue full, in order.
    private var roomWaiters: Deque<CheckedContinuation<Void, Never>> = []
    /// What waits for company on this side of librdkafka.
    private var gathering: Gathering
    private var gatheringTimer: TimerID?
    private var failure: KafkaError?
    private var isStarted = false
    private var isClosed = false

    /// Records handed over and not yet confirmed.
    public private(set) var undelivered = 0

    /// - Throws: `configuration` that names the property.
    public init(loop: EventLoop, configuration: ProducerConfiguration, log: Logger) throws(KafkaError) {
        self.loop = loop
        self.log = log
        clientLog = ClientLog(log, hiding: configuration.secrets)
        signal = try QueueSignal()
        client = try ClientSettings.makeClient(
            RD_KAFKA_PRODUCER, configuration.librdkafka(.running),
            events: RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR, log: clientLog)
        mainQueue = rd_kafka_queue_get_main(client)
        // A transaction ends with what librdkafka has of it.
        gathering = Gathering(for: configuration.transactionalID == nil ? configuration.busyLinger : .zero)
    }

    deinit {
        // Not closed, as where a worker could not be put together: the client lives on.
        if !isClosed { keepWhatIsCalledBack() }
    }

    /// For a client that is never destroyed.
    private nonisolated func keepWhatIsCalledBack() {
        _ = Unmanaged.passRetained(signal)
        _ = Unmanaged.passRetained(clientLog)
    }

    // MARK: - Sending

    /// Hands a record over and returns once the brokers have confirmed it.
    /// - Throws: as `handOver` and `confirm`.
    @discardableResult
    public func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
        try await confirm(handOver(record))
    }

    /// Puts a record into the local queue: in the order of the calls, before the first suspension where there is room.
    /// A full queue makes the call wait, not fail. Every receipt must be given to `confirm`.
    /// - Throws: why the record cannot be written; `fatal` or `fenced` when nothing more can be.
    public func handOver(_ record: ProducerRecord) async throws(KafkaError) -> Receipt {
        start()
        if roomWaiters.isEmpty, let receipt = offer(record) { return try receipt.get() }
        return try await handOverInTurn(record)
    }

    /// Apart, for what it keeps across its waits would be made room for on every call.
    @inline(never)
    private func handOverInTurn(_ record: ProducerRecord) async throws(KafkaError) -> Receipt {
        if !roomWaiters.isEmpty {
            await suspend(unless: roomWaiters.isEmpty) { roomWaiters.append($0) }
        }
        while true {
            if let receipt = offer(record) {
                wakeNextForRoom()
                return try receipt.get()
            }
            // The place at the head of the line is kept; the next report wakes it.
            await suspend(unless: undelivered == 0 || isClosed) { roomWaiters.prepend($0) }
        }
    }

    /// `nil`: there is no room.
    private func offer(_ record: ProducerRecord) -> Result<Receipt, KafkaError>? {
        if isClosed || failure != nil { return .failure(failure ?? .closed) }
        let place = freePlaces.popLast() ?? passages.count
        if place == passages.count { passages.append(.free) }
        if !gathering.isOn {
            // Behind what was gathered and has found no room yet.
            let code = gathering.isEmpty ? produce(record, place: place) : RD_KAFKA_RESP_ERR__QUEUE_FULL
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                freePlaces.append(place)
                if code == RD_KAFKA_RESP_ERR__QUEUE_FULL, undelivered > 0 { return nil }
                return .failure(fatalError(instead: code, doing: "produce to \(record.topic)"))
            }
        }
        undelivered += 1
        passages[place] = .underway
        if gathering.isOn { gather(record, place: place) }
        return .success(Receipt(slot: place))
    }

    /// Returns once the brokers have confirmed the record.
    /// - Throws: why it was not, or may not have been, written.
    public func confirm(_ receipt: Receipt) async throws(KafkaError) -> RecordPosition {
        let place = receipt.slot
        // Unsafe saves an allocation: whoever takes it out of its passage resumes it.
        return try await withUnsafeContinuation { waiter in
            if case .reported(let report) = passages[place] {
                release(place)
                waiter.resume(returning: report)
            } else {
                passages[place] = .awaited(waiter)
            }
        }.get()
    }

    private func gather(_ record: ProducerRecord, place: Int) {
        gathering.add(record, place: place)
        if gathering.isFull { return handOverGathered() }
        guard gatheringTimer == nil else { return }
        gatheringTimer = loop.schedule(at: .now + gathering.time) { [weak self] in
            self?.assumeIsolated { producer in
                producer.gatheringTimer = nil
                producer.handOverGathered()
                producer.gathering.look(asleep: producer.loop.asleep, at: .now)
            }
        }
    }

    /// For tests.
    var isGathering: Bool { gathering.isOn }

    /// Hands over what was gathered, as far as there is room; the next report sees to the rest.
    private func handOverGathered() {
        while let (record, place) = gathering.first {
            if let ended = isClosed ? .closed : failure {
                gathering.removeFirst()
                refuse(place, ended)
                continue
            }
            let code = produce(record, place: place)
            if code == RD_KAFKA_RESP_ERR__QUEUE_FULL, undelivered > gathering.count { return gathering.end() }
            gathering.removeFirst()
            guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
            refuse(place, fatalError(instead: code, doing: "produce to \(record.topic)"))
        }
    }

    private func refuse(_ place: Int, _ error: KafkaError) {
        undelivered -= 1
        finish(place, .failure(error))
    }

    private func release(_ place: Int) {
        passages[place] = .free
        freePlaces.append(place)
    }

    /// One at a time: whoever gets its record in wakes the next, whoever does not goes back to the head of the line.
    private func wakeNextForRoom() { roomWaiters.popFirst()?.resume() }

    private func produce(_ record: ProducerRecord, place: Int) -> rd_kafka_resp_err_t {
        guard let topic = topic(record.topic) else { return rd_kafka_last_error() }
        return record.handOver(to: client, topic: topic, opaque: UnsafeMutableRawPointer(bitPattern: place + 1))
    }

    private func topic(_ name: String) -> OpaquePointer? {
        if let topic = topics[name] { return topic }
        let topic = rd_kafka_topic_new(client, name, nil)
        topics[name] = topic
        return topic
    }

    private func fatalError(instead code: rd_kafka_resp_err_t, doing what: String) -> KafkaError {
        guard code == RD_KAFKA_RESP_ERR__FATAL else { return KafkaError(code, doing: what) }
        return noteFatal()
    }

    private func noteFatal() -> KafkaError {
        if let failure { return failure }
        var reason = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(client, &reason, reason.count)
        let isFenced =
            code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED
            || code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH
        let error = KafkaError(
            isFenced ? .fenced : .fatal, code: code.rawValue, "producer: \(ClientSettings.text(reason))")
        failure = error
        wakeNextForRoom()
        return error
    }

    /// Sends what still lingers and waits until nothing is undelivered any more.
    /// - Returns: whether that was reached within `bound`.
    public func flush(within bound: Duration) async -> Bool {
        guard undelivered > 0, !isClosed, !isHeld else { return undelivered == 0 }
        handOverGathered()
        let shared = Shared(pointer: client)
        let milliseconds = Int32(clamping: bound.wholeMilliseconds)
        // It waits for the reports, which come by the loop as ever.
        await blocking.run { _ = rd_kafka_flush(shared.pointer, milliseconds) }
        return undelivered == 0
    }

    /// Frees the client. Records still on their way may or may not be written: flush first.
    public func close() async {
        guard !isClosed else { return }
        isClosed = true
        if isStarted {
            signal.disconnect(mainQueue)
            loop.unwatch(signal.readEnd)
        }
        for place in passages.indices { finish(place, .failure(.closed)) }
        wakeNextForRoom()
        // It ends with the process, as that call does.
        guard !isHeld else { return keepWhatIsCalledBack() }
        let shared = (Shared(pointer: client), Shared(pointer: mainQueue), topics.values.map { Shared(pointer: $0) })
        topics.removeAll()
        await blocking.run {
            // What could not be delivered is dropped here, or destroying would wait for message.timeout.ms.
            rd_kafka_purge(shared.0.pointer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
            for topic in shared.2 { rd_kafka_topic_destroy(topic.pointer) }
            rd_kafka_queue_destroy(shared.1.pointer)
            rd_kafka_destroy(shared.0.pointer)
        }
    }

    // MARK: - Reports

    private func start() {
        guard !isStarted, !isClosed else { return }
        isStarted = true
        signal.connect(mainQueue, as: 0)
        loop.watch(signal.readEnd, for: .read, handler: self)
        // A queue tells when it stops being empty: what came before (no broker answered) would keep it silent for good.
        serveReports()
    }

    public nonisolated func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        assumeIsolated { producer in
            _ = producer.signal.drain()
            producer.serveReports()
        }
    }

    private func serveReports() {
        while let event = rd_kafka_queue_poll(mainQueue, 0) {
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_DR:
                while let message = rd_kafka_event_message_next(event) { take(message) }
            case RD_KAFKA_EVENT_ERROR:
                let code = rd_kafka_event_error(event)
                if code == RD_KAFKA_RESP_ERR__FATAL || rd_kafka_event_error_is_fatal(event) != 0 {
                    log.error("producer failed for good", metadata: ["reason": "\(noteFatal())"])
                } else {
                    log.debug("producer", metadata: ["reason": "\(KafkaError(code, doing: "producer"))"])
                }
            default: break
            }
            rd_kafka_event_destroy(event)
        }
        gathering.look(asleep: loop.asleep, at: .now)
        // Where it has just ended, what waits must not stand in the way of what comes next.
        if !gathering.isOn { handOverGathered() }
        wakeNextForRoom()
    }

    /// - Parameter message: the library's own, not a copy: its status stands behind it.
    private func take(_ message: UnsafePointer<rd_kafka_message_t>) {
        undelivered -= 1
        let place = Int(bitPattern: message.pointee._private) - 1
        guard message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR else {
            let position = RecordPosition(partition: message.pointee.partition, offset: message.pointee.offset)
            return finish(place, .success(position))
        }
        finish(place, .failure(reason(message.pointee.err).with(KafkaError.Status(rd_kafka_message_status(message)))))
    }

    private func reason(_ code: rd_kafka_resp_err_t) -> KafkaError {
        // What a fatal error takes along is reported under codes of its own.
        if rd_kafka_fatal_error(client, nil, 0) != RD_KAFKA_RESP_ERR_NO_ERROR { return noteFatal() }
        return fatalError(instead: code, doing: "delivery")
    }

    private func finish(_ place: Int, _ report: Report) {
        guard passages.indices.contains(place) else { return }
        switch passages[place] {
        case .underway: passages[place] = .reported(report)
        case .awaited(let continuation):
            release(place)
            continuation.resume(returning: report)
        case .free, .reported: break
        }
    }

    // MARK: - Transactions

    /// From `instant` on nothing about transactions is tried again, and no call is given time beyond it. One that has not
    /// returned a second later has failed: librdkafka keeps to the time it is given, but not where a request of its own
    /// waits for a broker, which takes `socket.timeout.ms` (60 s; 2.16).
    public func endTransactions(by instant: ContinuousClock.Instant) {
        transactionsEnd = instant
        loop.schedule(at: instant + .seconds(1)) { [weak self] in self?.assumeIsolated { $0.leaveTransactionCall() } }
    }

    private func leaveTransactionCall() {
        guard transactionCaller != nil else { return }
        isHeld = true
        answerTransactionCaller(Self.unanswered)
    }

    private func answerTransactionCaller(_ error: KafkaError?) {
        guard let caller = transactionCaller else { return }
        transactionCaller = nil
        caller.resume(returning: error)
    }

    private static let unanswered = KafkaError(.timedOut, "transaction: no answer from the brokers in time")

    /// Registers the transactional id and fences its former holder. Once, before the first transaction.
    public func initTransactions() async throws(KafkaError) {
        start()
        try await transactional("init transactions") { rd_kafka_init_transactions($0, $1) }
    }

    public func beginTransaction() async throws(KafkaError) {
        try await transactional("begin transaction") { client, _ in rd_kafka_begin_transaction(client) }
    }

    /// Adds the group's offsets to the transaction: they count only if it commits.
    public func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: Int64)], as member: GroupMembership
    ) async throws(KafkaError) {
        guard let metadata = member.metadata else {
            throw KafkaError(.other, "add offsets to transaction: the membership belongs to no consumer")
        }
        let entries = offsets.map { ($0.partition, offset: $0.next) }
        try await transactional("add offsets to transaction") { client, milliseconds in
            let list = PartitionList(entries)
            return rd_kafka_send_offsets_to_transaction(client, list.pointer, metadata.pointer, milliseconds)
        }
    }

    public func commitTransaction() async throws(KafkaError) {
        try await transactional("commit transaction") { rd_kafka_commit_transaction($0, $1) }
    }

    public func abortTransaction() async throws(KafkaError) {
        try await transactional("abort transaction") { rd_kafka_abort_transaction($0, $1) }
    }

    /// What a call about a transaction may take: not less than a round trip, late as it may be.
    private var transactionTime: Duration {
        let left = transactionsEnd.map { ContinuousClock.now.duration(to: $0) } ?? .seconds(30)
        return min(max(left, .milliseconds(100)), .seconds(30))
    }

    private var isTransactionTimeOver: Bool { transactionsEnd.map { ContinuousClock.now >= $0 } ?? false }

    /// Runs one call that holds its thread; tries again what may be tried again.
    /// - Parameter call: given the milliseconds that it may take.
    private func transactional(
        _ what: String, _ call: @escaping @Sendable (OpaquePointer, Int32) -> OpaquePointer?
    ) async throws(KafkaError) {
        if let failure { throw failure }
        let shared = Shared(pointer: client)
        for attempt in 1... {
            guard !isClosed else { throw .closed }
            let milliseconds = Int32(clamping: transactionTime.wholeMilliseconds)
            let error = await answer {
                call(shared.pointer, milliseconds).map { KafkaError(consuming: $0, doing: what) }
            }
            guard let error else { return }
            // A call that timed out goes on where it was when it is made again.
            if error.kind == .retriable, attempt < 5, !isTransactionTimeOver {
                await loop.pause(.milliseconds(100 * attempt))
                continue
            }
            if error.kind == .fatal || error.kind == .fenced { failure = error }
            throw error
        }
    }

    /// What a call says that holds its thread. One at a time.
    private func answer(to call: @escaping @Sendable () -> KafkaError?) async -> KafkaError? {
        guard !isHeld else { return Self.unanswered }
        return await withCheckedContinuation { caller in
            transactionCaller = caller
            Task {
                let error = await blocking.run(call)
                isHeld = false
                answerTransactionCaller(error)
            }
        }
    }
}
