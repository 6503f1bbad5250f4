internal import Basics
public import EventLoop
public import Logging

/// One member of a consumer group, running on an event loop.
///
/// Each assigned partition has its own queue. Records that are not read stay in librdkafka, up to
/// `queued.min.messages`, and then the broker waits; partitions are never paused in librdkafka. The main queue carries
/// rebalances and errors. It is served on each signal and at least twice a second, even if no caller reads records.
public actor KafkaConsumer: ReadinessHandler {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// The offsets of one assigned partition.
    public struct Position: Sendable, Hashable {
        public let partition: AssignedPartition
        /// The offset that the group continues from: the last committed one or, if none was committed, the start
        /// offset. `nil` until the broker has answered, soon after the assignment.
        public let committed: Int64?
        /// One past the partition's last record, as of the last fetch or the lookup made every minute; `nil` until it
        /// is known.
        public let end: Int64?
        /// Why reading or committing the partition is stopped until an operator acts; `nil` if it is not.
        public let problem: String?

        /// Makes a position for tests with a fake consumer.
        package init(partition: AssignedPartition, committed: Int64?, end: Int64?, problem: String? = nil) {
            (self.partition, self.committed, self.end, self.problem) = (partition, committed, end, problem)
        }
    }

    /// The state of reading.
    private struct Reading {
        var isOn = true
        /// True if there may be records, or the end of reading, that the reader has not seen.
        var hasNews = false
        var news = Condition()
    }

    let client: ClientHandle
    let log: Logger
    let partitions: PartitionSources
    let commits: OffsetCommits
    let brokers: BrokerWatch
    var group = Group()
    /// True if `kafka.properties` defines how reading continues past the end of a log. Otherwise an operator decides.
    let readsOnPastEnd: Bool
    /// True if the brokers decide who reads a partition (KIP-848).
    let brokersAssign: Bool
    private var reading = Reading()
    private var tick: TimerID?
    private(set) var isClosed = false
    private var isFreed = false
    /// Freeing a client takes milliseconds if the brokers answer.
    private static let shortestTimeToFree = Duration.milliseconds(500)

    /// Creates a consumer that connects to its brokers but does not join the group yet. Safe to call from any thread.
    /// - Throws: `configuration` that names the property.
    public init(loop: EventLoop, configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        self.loop = loop
        self.log = log
        readsOnPastEnd = configuration.properties["auto.offset.reset"] != nil
        brokersAssign = configuration.usesNewProtocol
        client = try ClientHandle(
            .consumer, properties: configuration.librdkafka(.running), hiding: configuration.secrets, log: log)
        partitions = PartitionSources(client)
        commits = OffsetCommits(client, loop: loop, partitions: partitions)
        brokers = BrokerWatch(client, isReporting: true, loop: loop, log: log)
    }

    // MARK: - Joining and leaving

    /// Joins the group. Call it once.
    /// - Parameter topics: Topic names, not patterns. Assigned partitions of other topics are not read.
    /// - Parameter listener: Notified of each rebalance. The reference is weak, because the listener's owner also owns
    ///   the consumer.
    public func subscribe(to topics: [String], listener: any RebalanceListener) throws(KafkaError) {
        group.listener = listener
        group.topics = Set(topics)
        client.signal.connect(client.events, as: PartitionSources.mainQueueNumber)
        loop.watch(client.signal.readEnd, for: .read, handler: self)
        scheduleTick()

        try client.subscribe(to: topics)
    }

    /// Ends reading: `records` returns an empty array from now on. The membership and the partitions stay.
    public func stopReading() {
        reading.isOn = false
        wakeReader()
    }

    /// Revokes all partitions, leaves the group and frees the client. The revocation notifies the listener and commits
    /// its offsets. The wait for the listener has no limit; the wait for the broker's answers ends after `bound`. If a
    /// pending call delays freeing the client, a dedicated thread frees it later; at the latest, the process exits.
    public func close(within bound: Duration = .seconds(10)) async {
        guard !isClosed else { return }
        isClosed = true
        stopReading()

        let end = loop.now + bound
        group.leavesBefore = end
        await leaveGroup(before: end)
        await finishUses(before: end)

        if let tick { loop.cancel(tick) }
        partitions.remove(partitions.inOrder)
        loop.unwatch(client.signal.readEnd)
        commits.endWaits(with: .closed)
        await freeClient(before: max(end, loop.now + Self.shortestTimeToFree))
    }

    private func freeClient(before end: Instant) async {
        Task {
            await client.destroy()
            isFreed = true
        }
        while !isFreed, loop.now < end { await loop.pause(.milliseconds(2)) }
    }

    private func leaveGroup(before end: Instant) async {
        do throws(KafkaError) {
            try client.beginLeavingGroup()
        } catch {
            return log.warning("leaving the group failed", metadata: ["reason": "\(error)"])
        }

        while !client.hasLeftGroup, loop.now < end {
            await loop.pause(.milliseconds(5))
            serveEvents()
        }
    }

    /// Waits for the answers to rebalances without a limit, and for lookups until `end`. A lookup behind a call that never
    /// returns does not end: see `reply`.
    private func finishUses(before end: Instant) async {
        var isLookingUp: Bool {
            group.offsetLookup.task != nil || group.startSearch.task != nil || group.resets.task != nil
                || brokers.isProbing
        }
        var ended: Task<Void, Never>?
        // Events are served in the meantime, so one rebalance may follow another.
        while group.answer != ended || (isLookingUp && loop.now < end) {
            ended = group.answer
            await ended?.value
            if isLookingUp { await loop.pause(.milliseconds(2)) }
        }
    }

    // MARK: - Reading

    /// Waits for at least one record, and returns up to `max` (at least 1), fairly over the partitions. Supports one
    /// caller at a time.
    /// - Returns: An empty array after `stopReading` or `close`, or if the task was cancelled.
    /// - Throws: `fatal` or `fenced` if the client has failed permanently.
    public func records(max: Int) async throws(KafkaError) -> [ConsumerRecord] {
        precondition(max > 0, "max must be at least 1")
        while reading.isOn, !Task.isCancelled {
            if let failure = client.failure { throw failure }

            reading.hasNews = false
            let records = partitions.takeRecords(max: max) { brokers.report($0) }
            while let gap = partitions.gaps.popFirst() { await group.listener?.passed(gap.value, of: gap.key) }
            if !records.isEmpty { return records }

            precondition(!reading.news.isAwaited, "records(max:) supports one caller at a time")
            await withTaskCancellationHandler {
                await suspend(unless: reading.hasNews || Task.isCancelled) { reading.news.add($0) }
            } onCancel: {
                Task { await self.wakeReader() }
            }
        }

        if let failure = client.failure { throw failure }
        return []
    }

    /// The error that ends all reading (`fatal`, `fenced`), which `records` throws; `nil` while the client works.
    public nonisolated var failure: KafkaError? { client.failure }

    /// Stops reading a partition until `resume`; its records stay in the queue.
    public func hold(_ partition: AssignedPartition) { partitions.source(partition)?.isHeld = true }

    /// Resumes reading a partition after `hold`.
    public func resume(_ partition: AssignedPartition) {
        guard let source = partitions.source(partition), source.isHeld else { return }
        source.isHeld = false
        partitions.noteRecords(of: source)
        wakeReader()
    }

    func wakeReader() {
        reading.hasNews = true
        reading.news.signal()
    }

    // MARK: - Calls by the loop

    public nonisolated func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        assumeIsolated { $0.takeSignals() }
    }

    private func takeSignals() {
        var hasRecords = false
        for number in client.signal.drain() {
            if number == PartitionSources.mainQueueNumber {
                serveEvents()
            } else if let source = partitions.source(signalledAs: number) {
                partitions.noteRecords(of: source)
                hasRecords = true
            }
        }
        if hasRecords { wakeReader() }
    }

    private func scheduleTick() {
        tick = loop.schedule(at: loop.now + .milliseconds(400)) { [weak self] in
            self?.assumeIsolated { $0.takeTick() }
        }
    }

    /// Keeps the membership alive (`max.poll.interval.ms`), and compensates for signals lost because the pipe was full.
    private func takeTick() {
        serveEvents()
        brokers.reportIfDue(at: loop.now)
        if !isClosed, brokers.shallProbe() { Task { await brokers.probe() } }

        findPendingStarts()
        lookUpOffsets()
        lookAtResets()
        for source in partitions.inOrder { partitions.noteRecords(of: source) }
        wakeReader()
        scheduleTick()
    }

    private func serveEvents() {
        while let event = client.nextConsumerEvent() {
            switch event {
            case .rebalance(let event):
                group.refusal = nil
                // Answered asynchronously; librdkafka sends no other rebalance before the answer.
                let before = group.answer
                group.answer = Task {
                    await before?.value
                    await answer(event)
                }
            case .commitAnswered(let answer, let error):
                if error == nil { brokers.noteAnswer() }
                commits.noteAnswer(answer, error)
            case .failed:
                wakeReader()
            case .error(let error):
                let refusal = error.asGroupRefusal
                group.refusal = refusal?.description ?? group.refusal
                brokers.report(refusal ?? error)
            case .misplacedRecord:
                // Cannot happen, because the queues are split off before the assignment. Continuing would lose the
                // record.
                client.noteFailure(KafkaError(.fatal, "a record arrived in the wrong queue; restart the worker"))
                wakeReader()
            case .other: break
            }
        }
    }
}
