internal import CRdkafka
public import EventLoop
public import Logging

/// One member of a consumer group, living on an event loop.
///
/// Each assigned partition has a queue of its own: what is not read stays in librdkafka, within
/// `queued.min.messages`, and the broker waits. Nothing is ever paused. The main queue, with rebalances and errors,
/// is served by signal and at least twice a second, whether or not anybody reads records.
public actor KafkaConsumer: ReadinessHandler {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// A partition being read.
    final class Source {
        let partition: AssignedPartition
        let number: UInt32
        let queue: OpaquePointer
        var mayHaveRecords = true
        var isHeld = false
        var isRevoked = false
        /// The offset last confirmed by the broker in this assignment.
        var committed: Int64?
        var stored: Int64?

        init(_ partition: AssignedPartition, number: UInt32, queue: OpaquePointer) {
            self.partition = partition
            self.number = number
            self.queue = queue
        }
    }

    /// Where one assigned partition stands.
    public struct Position: Sendable, Hashable {
        public let partition: AssignedPartition
        /// The offset the group continues from; `nil` before the first commit of this assignment.
        public let committed: Int64?
        /// One past the partition's last record, as the last fetch saw it; `nil` before the first.
        public let end: Int64?

        /// Makes a position by hand, for tests with a fake consumer.
        package init(partition: AssignedPartition, committed: Int64?, end: Int64?) {
            self.partition = partition
            self.committed = committed
            self.end = end
        }
    }

    /// Commits asked for, and commits answered: at most one apart.
    struct Commits {
        var (begun, ended) = (0, 0)
        /// How the one answered last ended.
        var lastError: KafkaError?
        var waiters: [Int: CheckedContinuation<KafkaError?, Never>] = [:]
        var nextWaiter = 0
    }

    // Sendable by hand: librdkafka's clients may be used from any thread; destroyed in `close`, after the last use.
    nonisolated(unsafe) let client: OpaquePointer
    nonisolated(unsafe) let mainQueue: OpaquePointer
    let signal: QueueSignal
    let log: Logger
    private let clientLog: ClientLog
    let blocking = BlockingThread("kafka-consumer")
    private(set) weak var listener: (any RebalanceListener)?

    static let mainQueueNumber = UInt32.max
    var sources: [UInt32: Source] = [:]
    var numbers: [TopicPartition: UInt32] = [:]
    var readOrder: [Source] = []
    var nextNumber: UInt32 = 0
    private var nextRead = 0
    var epoch: UInt32 = 0

    private var reader: CheckedContinuation<Void, Never>?
    /// There may be records, or an end, that the reader has not looked at.
    private var hasNews = false
    var failure: KafkaError?
    private var isReading = true
    private(set) var isClosed = false
    /// From the answer to a revocation to the next assignment.
    var isRejoining = false
    /// The answer to the last rebalance; the client may not be destroyed before it has ended.
    private var rebalance: Task<Void, Never>?
    var commits = Commits()
    private var tick: TimerID?
    var isProbing = false
    var lastWarnings: [Int32: ContinuousClock.Instant] = [:]
    /// Under which the partitions are assigned; `nil` where they are none, or lost. Kept from the assignment on: asked later,
    /// the client could name a place that it took after partitions had gone to others, or none, which no broker checks.
    public internal(set) var membership: GroupMembership?
    /// Whether no broker answers at the moment.
    public internal(set) var brokersAreDown = false
    /// Offsets that came for an assignment that was over, and were left out.
    public internal(set) var staleOffsets = 0

    /// - Parameter listener: kept weakly: its owner owns the consumer too.
    /// - Throws: `configuration` that names the property.
    public init(loop: EventLoop, configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        self.loop = loop
        self.log = log
        clientLog = ClientLog(log, hiding: configuration.secrets)
        signal = try QueueSignal()
        let events = RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_ERROR
        client = try ClientSettings.makeClient(
            RD_KAFKA_CONSUMER, configuration.librdkafka(.running), events: events, log: clientLog)
        rd_kafka_poll_set_consumer(client)
        mainQueue = rd_kafka_queue_get_consumer(client)
    }

    deinit {
        // Not closed, as where a worker could not be put together: the client lives on, and so must what it calls back.
        guard !isClosed else { return }
        _ = Unmanaged.passRetained(signal)
        _ = Unmanaged.passRetained(clientLog)
    }

    // MARK: - Joining and leaving

    /// Joins the group. Call once.
    public func subscribe(to topics: [String], listener: any RebalanceListener) throws(KafkaError) {
        self.listener = listener
        signal.connect(mainQueue, as: Self.mainQueueNumber)
        loop.watch(signal.readEnd, for: .read, handler: self)
        scheduleTick()
        let list = PartitionList(topics.map { TopicPartition($0, RD_KAFKA_PARTITION_UA) })
        let code = rd_kafka_subscribe(client, list.pointer)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing: "subscribe to \(topics)") }
    }

    /// Ends reading: `records` returns an empty array from now on. Membership and partitions stay.
    public func stopReading() {
        isReading = false
        wakeReader()
    }

    /// Revokes what is assigned (the listener is told, its offsets are committed), leaves the group and frees the
    /// client. The listener is waited for; the broker's answers at most `bound`.
    public func close(within bound: Duration = .seconds(10)) async {
        guard !isClosed else { return }
        isClosed = true
        stopReading()
        let end = ContinuousClock.now + bound
        if let error = rd_kafka_consumer_close_queue(client, mainQueue) {
            log.warning(
                "leaving the group failed", metadata: ["reason": "\(KafkaError(consuming: error, doing: "close"))"])
        } else {
            while rd_kafka_consumer_closed(client) == 0, ContinuousClock.now < end {
                await loop.pause(.milliseconds(5))
                serveMainQueue()
            }
        }
        await destroy()
    }

    private func destroy() async {
        // They use the client: however late, they come first. A rebalance may bring another, as its events are served
        // meanwhile; behind the last look nothing is waited for.
        var ended: Task<Void, Never>?
        while rebalance != ended || isProbing {
            ended = rebalance
            await ended?.value
            if isProbing { await loop.pause(.milliseconds(5)) }
        }
        if let tick { loop.cancel(tick) }
        for source in readOrder { drop(source) }
        readOrder.removeAll()
        signal.disconnect(mainQueue)
        loop.unwatch(signal.readEnd)
        rd_kafka_queue_destroy(mainQueue)
        for waiter in commits.waiters.values { waiter.resume(returning: .closed) }
        commits.waiters.removeAll()
        let shared = Shared(pointer: client)
        // What has not left the group by now does not: the session runs out at the broker.
        await blocking.run { rd_kafka_destroy_flags(shared.pointer, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) }
    }

    // MARK: - Reading

    /// Returns what is there as soon as at least one record is, up to `max`, at least 1, fairly over partitions.
    /// One caller at a time.
    /// - Returns: empty once `stopReading` or `close` was called, or the task was cancelled.
    /// - Throws: when the client can do no more (`fatal`, `fenced`).
    public func records(max: Int) async throws(KafkaError) -> [ConsumerRecord] {
        precondition(max > 0, "who asks for no record waits for good")
        while isReading, !Task.isCancelled {
            if let failure { throw failure }
            hasNews = false
            let records = takeRecords(max: max)
            if !records.isEmpty { return records }
            precondition(reader == nil, "a second reader of one consumer")
            await withTaskCancellationHandler {
                await suspend(unless: hasNews || Task.isCancelled) { reader = $0 }
            } onCancel: {
                Task { await self.wakeReader() }
            }
        }
        if let failure { throw failure }
        return []
    }

    /// Leaves a partition's records where they are until `resume`.
    public func hold(_ partition: AssignedPartition) { source(partition)?.isHeld = true }

    public func resume(_ partition: AssignedPartition) {
        guard let source = source(partition), source.isHeld else { return }
        source.isHeld = false
        source.mayHaveRecords = true
        wakeReader()
    }

    func source(_ partition: AssignedPartition) -> Source? {
        guard let number = numbers[partition.id], let source = sources[number] else { return nil }
        return source.partition.epoch == partition.epoch ? source : nil
    }

    private func takeRecords(max: Int) -> [ConsumerRecord] {
        var records: [ConsumerRecord] = []
        guard !readOrder.isEmpty, max > 0 else { return records }
        // A share for each partition that has something, so that a full one cannot starve the others.
        let share = Swift.max(1, max / readOrder.count)
        var idle = 0
        while records.count < max, idle < readOrder.count {
            nextRead = nextRead + 1 < readOrder.count ? nextRead + 1 : 0
            let source = readOrder[nextRead]
            let taken = take(from: source, upTo: min(share, max - records.count), into: &records)
            idle = taken == 0 ? idle + 1 : 0
        }
        return records
    }

    private func take(from source: Source, upTo limit: Int, into records: inout [ConsumerRecord]) -> Int {
        guard source.mayHaveRecords, !source.isHeld, !source.isRevoked else { return 0 }
        var taken = 0
        while taken < limit {
            // One message a call: batch calls skip offsets around rebalances before 2.1.0.
            guard let message = rd_kafka_consume_queue(source.queue, 0) else {
                source.mayHaveRecords = false
                break
            }
            defer { rd_kafka_message_destroy(message) }
            guard message.pointee.err == RD_KAFKA_RESP_ERR_NO_ERROR else {
                report(KafkaError(message.pointee.err, doing: "reading \(source.partition.id)"))
                continue
            }
            records.append(ConsumerRecord(copying: message, of: source.partition))
            taken += 1
        }
        return taken
    }

    func wakeReader() {
        hasNews = true
        guard let reader else { return }
        self.reader = nil
        reader.resume()
    }

    // MARK: - The loop's calls

    public nonisolated func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        assumeIsolated { $0.signalled() }
    }

    private func signalled() {
        var hasRecords = false
        for number in signal.drain() {
            if number == Self.mainQueueNumber {
                serveMainQueue()
            } else if let source = sources[number] {
                source.mayHaveRecords = true
                hasRecords = true
            }
        }
        if hasRecords { wakeReader() }
    }

    private func scheduleTick() {
        tick = loop.schedule(at: .now + .milliseconds(400)) { [weak self] in
            self?.assumeIsolated { $0.ticked() }
        }
    }

    /// Keeps the membership alive (`max.poll.interval.ms`), and makes up for a signal that found the pipe full.
    private func ticked() {
        serveMainQueue()
        if brokersAreDown, !isProbing, !isClosed {
            isProbing = true
            Task { await probe() }
        }
        for source in readOrder { source.mayHaveRecords = true }
        wakeReader()
        scheduleTick()
    }

    private func serveMainQueue() {
        while let event = rd_kafka_queue_poll(mainQueue, 0) {
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_REBALANCE:
                // Answered by and by; librdkafka sends no other one before that. The answer frees the event.
                let (event, before) = (Shared(pointer: event), rebalance)
                rebalance = Task {
                    await before?.value
                    await answer(event)
                }
                continue
            case RD_KAFKA_EVENT_OFFSET_COMMIT: committed(event)
            case RD_KAFKA_EVENT_ERROR: reportEvent(event)
            case RD_KAFKA_EVENT_FETCH:
                // Cannot be: the queues are split off before the assignment. Dropping the record would lose it.
                failure = KafkaError(.fatal, "a record came by the wrong queue; start the worker again")
                wakeReader()
            default: break
            }
            rd_kafka_event_destroy(event)
        }
    }
}
