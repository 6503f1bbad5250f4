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
    }

    // Sendable by hand: librdkafka's clients may be used from any thread; destroyed in `close`, after the last use.
    private nonisolated(unsafe) let client: OpaquePointer
    private nonisolated(unsafe) let mainQueue: OpaquePointer
    private let signal: QueueSignal
    private let log: Logger
    private let clientLog: ClientLog
    private let blocking = BlockingThread("kafka-consumer")
    private weak var listener: (any RebalanceListener)?

    private static let mainQueueNumber = UInt32.max
    private var sources: [UInt32: Source] = [:]
    private var numbers: [TopicPartition: UInt32] = [:]
    private var readOrder: [Source] = []
    private var nextNumber: UInt32 = 0
    private var nextRead = 0
    private var epoch: UInt32 = 0

    private var reader: CheckedContinuation<Void, Never>?
    /// There may be records, or an end, that the reader has not looked at.
    private var hasNews = false
    private var failure: KafkaError?
    private var isReading = true
    private var isClosed = false
    /// From the answer to a revocation to the next assignment.
    private var isRejoining = false
    /// The answer to the last rebalance; the client may not be destroyed before it has ended.
    private var rebalance: Task<Void, Never>?
    /// Commits asked for, and commits answered: at most one apart.
    private(set) var (commitsBegun, commitsEnded) = (0, 0)
    /// How the one answered last ended.
    private var lastCommitError: KafkaError?
    private var commitWaiters: [Int: CheckedContinuation<KafkaError?, Never>] = [:]
    private var nextWaiter = 0
    private var tick: TimerID?
    private var isProbing = false
    private var lastWarnings: [Int32: ContinuousClock.Instant] = [:]
    /// Whether no broker answers at the moment.
    public private(set) var brokersAreDown = false
    /// Offsets that came for an assignment that was over, and were left out.
    public private(set) var staleOffsets = 0

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
        loop.watch(signal.readEnd, for: .read, self)
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
        for waiter in commitWaiters.values { waiter.resume(returning: .closed) }
        commitWaiters.removeAll()
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
                await withCheckedContinuation { waiter in
                    // Looked at again: others may run between an `await` and its body.
                    if hasNews || Task.isCancelled { waiter.resume() } else { reader = waiter }
                }
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

    private func source(_ partition: AssignedPartition) -> Source? {
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

    private func wakeReader() {
        hasNews = true
        guard let reader else { return }
        self.reader = nil
        reader.resume()
    }

    // MARK: - Offsets

    /// Notes where to continue, for the next `commit`. Partitions whose assignment is over are left out.
    /// - Parameter offsets: of the next record to read, that is one past the last finished one.
    public func store(_ offsets: [(partition: AssignedPartition, next: Int64)]) {
        let current = offsets.compactMap { entry in source(entry.partition).map { ($0, entry.next) } }
        staleOffsets += offsets.count - current.count
        guard !current.isEmpty else { return }
        let list = PartitionList(current.map { ($0.0.partition.id, offset: $0.1) })
        rd_kafka_offsets_store(client, list.pointer)
        for (source, next) in current { source.stored = next }
    }

    /// Commits what is stored and not yet committed, and waits for the broker's word. After a revocation, until the next
    /// assignment, nothing is committed: a commit then can cost the whole assignment.
    /// - Returns: the partitions whose offset the broker has confirmed, each with the offset to continue from.
    /// - Throws: why something that was stored is not committed; the next call tries again.
    @discardableResult
    public func commit(within bound: Duration = .seconds(30)) async throws(KafkaError) -> [AssignedPartition: Int64] {
        try await commitStored(before: .now + bound)
        return confirmed
    }

    private var confirmed: [AssignedPartition: Int64] {
        var offsets: [AssignedPartition: Int64] = [:]
        for source in readOrder { offsets[source.partition] = source.committed }
        return offsets
    }

    private var hasUncommitted: Bool { sources.values.contains { $0.stored != nil && $0.stored != $0.committed } }

    /// One commit at a time: who finds one under way waits for it, and for the next if something is left for that.
    private func commitStored(before end: ContinuousClock.Instant, whileClosing: Bool = false) async throws(KafkaError)
    {
        let wanted = commitsBegun + 1
        while commitsEnded < wanted, hasUncommitted {
            guard whileClosing || !isClosed else { throw .closed }
            guard !isRejoining else { throw KafkaError(.retriable, "commit offsets: the group is rebalancing") }
            if commitsBegun == commitsEnded {
                let code = rd_kafka_commit_queue(client, nil, mainQueue, nil, nil)
                if code == RD_KAFKA_RESP_ERR__NO_OFFSET { return }
                guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code, doing: "commit offsets") }
                commitsBegun += 1
            }
            let commit = commitsBegun
            // How the one before ended says nothing of ours.
            if let error = await result(ofCommit: commit, before: end), commit >= wanted || end <= .now { throw error }
        }
    }

    /// - Parameter commit: the one under way, counted from 1.
    private func result(ofCommit commit: Int, before end: ContinuousClock.Instant) async -> KafkaError? {
        nextWaiter += 1
        let number = nextWaiter
        var timer: TimerID?
        let error = await withCheckedContinuation { waiter in
            // Looked at again: others may run between an `await` and its body.
            guard commitsEnded < commit else { return waiter.resume(returning: lastCommitError) }
            commitWaiters[number] = waiter
            timer = loop.schedule(at: end) { [weak self] in
                self?.assumeIsolated { consumer in
                    let error = KafkaError(.timedOut, "commit offsets: no answer in time")
                    consumer.commitWaiters.removeValue(forKey: number)?.resume(returning: error)
                }
            }
        }
        if let timer { loop.cancel(timer) }
        return error
    }

    private func committed(_ event: OpaquePointer) {
        // Both are looked at: a refused commit can leave each partition's own error at 0.
        let code = rd_kafka_event_error(event)
        var error: KafkaError?
        if code == RD_KAFKA_RESP_ERR_NO_ERROR {
            for entry in PartitionList.contents(of: rd_kafka_event_topic_partition_list(event)) {
                guard entry.error == RD_KAFKA_RESP_ERR_NO_ERROR else {
                    error = KafkaError(entry.error, doing: "commit offset of \(entry.id)")
                    continue
                }
                guard entry.offset >= 0, let number = numbers[entry.id] else { continue }
                sources[number]?.committed = entry.offset
            }
        } else if code != RD_KAFKA_RESP_ERR__NO_OFFSET {
            error = KafkaError(code, doing: "commit offsets")
        }
        commitsEnded = commitsBegun
        lastCommitError = error
        if error == nil { brokersAreDown = false }
        let waiters = commitWaiters
        commitWaiters.removeAll()
        for waiter in waiters.values { waiter.resume(returning: error) }
    }

    /// Where each assigned partition stands. Asks nobody.
    public var positions: [Position] {
        guard !isClosed else { return [] }
        return readOrder.map { source in
            var (low, high): (Int64, Int64) = (0, 0)
            let id = source.partition.id
            let code = rd_kafka_get_watermark_offsets(client, id.topic, id.partition, &low, &high)
            return Position(
                partition: source.partition, committed: source.committed,
                end: code == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0 ? high : nil)
        }
    }

    /// Under which the partitions are assigned; `nil` where they are none, or lost. Kept from the assignment on: asked later,
    /// the client could name a place that it took after partitions had gone to others, or none, which no broker checks.
    public private(set) var membership: GroupMembership?

    // MARK: - The loop's calls

    public nonisolated func ready(_ fileDescriptor: Int32, _ readiness: Readiness) {
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

    /// How many partitions a topic has, as a broker says now.
    /// - Returns: `nil` when none answers within 2 seconds, or the topic is not there.
    public func partitionCount(of topic: String) async -> Int? {
        guard !isClosed else { return nil }
        let shared = Shared(pointer: client)
        return await blocking.run {
            guard let handle = rd_kafka_topic_new(shared.pointer, topic, nil) else { return nil }
            defer { rd_kafka_topic_destroy(handle) }
            var metadata: UnsafePointer<rd_kafka_metadata>?
            guard rd_kafka_metadata(shared.pointer, 0, handle, &metadata, 2000) == RD_KAFKA_RESP_ERR_NO_ERROR,
                let metadata
            else { return nil }
            defer { rd_kafka_metadata_destroy(metadata) }
            guard metadata.pointee.topic_cnt > 0, metadata.pointee.topics[0].partition_cnt > 0 else { return nil }
            return Int(metadata.pointee.topics[0].partition_cnt)
        }
    }

    /// librdkafka says when the last broker goes, not when one comes back.
    private func probe() async {
        let shared = Shared(pointer: client)
        let isUp = await blocking.run {
            var metadata: UnsafePointer<rd_kafka_metadata>?
            let code = rd_kafka_metadata(shared.pointer, 0, nil, &metadata, 300)
            if let metadata { rd_kafka_metadata_destroy(metadata) }
            return code == RD_KAFKA_RESP_ERR_NO_ERROR
        }
        isProbing = false
        guard isUp, brokersAreDown else { return }
        brokersAreDown = false
        log.info("brokers answer again")
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

    private func reportEvent(_ event: OpaquePointer) {
        let code = rd_kafka_event_error(event)
        let text = rd_kafka_event_error_string(event).map { String(cString: $0) } ?? ""
        if code == RD_KAFKA_RESP_ERR__FATAL || rd_kafka_event_error_is_fatal(event) != 0 {
            var reason = [CChar](repeating: 0, count: 512)
            let original = rd_kafka_fatal_error(client, &reason, reason.count)
            let isFenced = original == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID
            failure = KafkaError(
                isFenced ? .fenced : .fatal, code: original.rawValue, "consumer: \(ClientSettings.text(reason))")
            wakeReader()
            return
        }
        report(KafkaError(code, doing: text))
    }

    private func report(_ error: KafkaError) {
        if error.code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue {
            if !brokersAreDown { log.warning("no broker answers; trying again until one does") }
            brokersAreDown = true
        } else if error.kind == .unreachable || error.code == RD_KAFKA_RESP_ERR__PARTITION_EOF.rawValue {
            log.debug("consumer", metadata: ["reason": "\(error)"])
        } else {
            // Some come back with every retry of the client.
            let now = ContinuousClock.now
            if let last = lastWarnings[error.code], now - last < .seconds(30) { return }
            lastWarnings[error.code] = now
            log.warning("consumer", metadata: ["reason": "\(error)"])
        }
    }

    // MARK: - Rebalance

    private func answer(_ event: Shared) async {
        let event = event.pointer
        defer { rd_kafka_event_destroy(event) }
        let ids = PartitionList.contents(of: rd_kafka_event_topic_partition_list(event)).map(\.id)
        let isCooperative = rd_kafka_rebalance_protocol(client).map { String(cString: $0) } == "COOPERATIVE"
        switch rd_kafka_event_error(event) {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
            membership = GroupMembership(of: client)
            await assign(ids, isCooperative: isCooperative)
            isRejoining = false
            if isCooperative { await wakeFetchers() }
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
            // Another may have come without an assignment in between.
            isRejoining = false
            // Asked before any assign call, which clears it.
            await revoke(ids, isLost: rd_kafka_assignment_lost(client) != 0, isCooperative: isCooperative)
        case let code:
            log.warning("rebalance failed", metadata: ["reason": "\(KafkaError(code, doing: "rebalance"))"])
            rd_kafka_assign(client, nil)
        }
    }

    private func assign(_ ids: [TopicPartition], isCooperative: Bool) async {
        brokersAreDown = false
        if !ids.isEmpty { epoch += 1 }
        var added: [AssignedPartition] = []
        for id in ids {
            guard let queue = rd_kafka_queue_get_partition(client, id.topic, id.partition) else { continue }
            // Before the assignment, so that not one record goes to the main queue.
            rd_kafka_queue_forward(queue, nil)
            let source = Source(AssignedPartition(id, epoch: epoch), number: nextNumber, queue: queue)
            if let old = numbers[id].flatMap({ sources[$0] }) { drop(old) }
            nextNumber = nextNumber == Self.mainQueueNumber - 1 ? 0 : nextNumber + 1
            sources[source.number] = source
            numbers[id] = source.number
            signal.connect(queue, as: source.number)
            added.append(source.partition)
        }
        readOrder = sources.values.sorted { $0.number < $1.number }
        await listener?.assigned(added)
        let list = PartitionList(ids)
        check("assign", isCooperative, rd_kafka_incremental_assign, rd_kafka_assign, list)
        wakeReader()
    }

    /// librdkafka pauses every partition while it takes an assignment, those that stay too, and does not tell its broker
    /// threads when that is over: they look again within a second, and until then nothing is read. A question about the
    /// partitions' ends goes through the same threads, and wakes them.
    private func wakeFetchers() async {
        let partitions = readOrder.map { ($0.partition.id, offset: Int64(RD_KAFKA_OFFSET_END)) }
        guard !partitions.isEmpty, !isClosed else { return }
        let shared = Shared(pointer: client)
        await blocking.run {
            let list = PartitionList(partitions)
            // The answer does not matter, only that it was asked for.
            _ = rd_kafka_offsets_for_times(shared.pointer, list.pointer, 200)
        }
    }

    private func revoke(_ ids: [TopicPartition], isLost: Bool, isCooperative: Bool) async {
        let gone = ids.compactMap { numbers[$0].flatMap { sources[$0] } }
        for source in gone { source.isRevoked = true }
        let partitions = gone.map(\.partition)
        if isLost {
            membership = nil
            await listener?.lost(partitions)
        } else {
            await listener?.revoked(partitions)
            await commitBeforeHandover()
        }
        isRejoining = true
        for source in gone { drop(source) }
        readOrder = sources.values.sorted { $0.number < $1.number }
        let list = PartitionList(ids)
        if isCooperative {
            check("unassign", true, rd_kafka_incremental_unassign, rd_kafka_assign, list)
        } else {
            rd_kafka_assign(client, nil)
        }
    }

    /// Tries again where the coordinator is away or moves. Not where the group has gone on without us, or forms already:
    /// it waits for our answer.
    private func commitBeforeHandover() async {
        // Well below the time the group gives its members to answer (max.poll.interval.ms).
        let end = ContinuousClock.now + .seconds(5)
        while true {
            do throws(KafkaError) {
                return try await commitStored(before: end, whileClosing: true)
            } catch {
                guard error.isOfCoordinator, ContinuousClock.now + .milliseconds(200) < end else {
                    log.warning(
                        "offsets of revoked partitions are not committed: what finished last will be done again",
                        metadata: ["reason": "\(error)"])
                    return
                }
            }
            await loop.pause(.milliseconds(200))
        }
    }

    private func check(
        _ what: String, _ isCooperative: Bool,
        _ incremental: (OpaquePointer?, UnsafePointer<rd_kafka_topic_partition_list_t>?) -> OpaquePointer?,
        _ eager: (OpaquePointer?, UnsafePointer<rd_kafka_topic_partition_list_t>?) -> rd_kafka_resp_err_t,
        _ list: borrowing PartitionList
    ) {
        if isCooperative {
            guard let error = incremental(client, list.pointer) else { return }
            log.error("rebalance", metadata: ["reason": "\(KafkaError(consuming: error, doing: what))"])
        } else {
            let code = eager(client, list.pointer)
            guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
            log.error("rebalance", metadata: ["reason": "\(KafkaError(code, doing: what))"])
        }
    }

    private func drop(_ source: Source) {
        guard sources.removeValue(forKey: source.number) != nil else { return }
        if numbers[source.partition.id] == source.number { numbers[source.partition.id] = nil }
        source.isRevoked = true
        signal.disconnect(source.queue)
        rd_kafka_queue_destroy(source.queue)
    }
}
