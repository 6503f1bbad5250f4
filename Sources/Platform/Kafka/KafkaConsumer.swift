internal import Basics
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

    /// The offsets of one assigned partition.
    public struct Position: Sendable, Hashable {
        public let partition: AssignedPartition
        /// The offset that the group continues from: the one committed last or, where nothing was ever committed, the one
        /// at which reading begins. `nil` until the broker has said which, soon after the assignment.
        public let committed: Int64?
        /// One past the partition's last record, as the last fetch, or a question every minute, saw it; `nil` until the broker has said it.
        public let end: Int64?
        /// Why nothing is read, or nothing committed, of the partition until a person acts; `nil` where nothing stands in the way.
        public let problem: String?

        /// Makes a position by hand, for tests with a fake consumer.
        package init(partition: AssignedPartition, committed: Int64?, end: Int64?, problem: String? = nil) {
            self.partition = partition
            self.committed = committed
            self.end = end
            self.problem = problem
        }
    }

    /// How far the reading of records has come.
    private struct Reading {
        var isOn = true
        /// True when there may be records, or an end, that the reader has not looked at.
        var hasNews = false
        var news = Condition()
    }

    let client: ClientHandle
    let log: Logger
    let partitions: PartitionSources
    let commits: OffsetCommits
    let brokers: BrokerWatch
    var group = Group()
    /// The place where reading begins in partitions without a committed offset.
    let startFrom: StartPosition
    /// True where `kafka.properties` says how reading goes on past the end of a log. Else a person decides.
    let readsOnPastEnd: Bool
    /// Counts what waits at the first assignment; `nil` once that was said.
    var backlog: Backlog? = Backlog()
    private var reading = Reading()
    private var tick: TimerID?
    private(set) var isClosed = false
    private var isFreed = false
    /// Freeing a client takes milliseconds where brokers answer.
    private static let shortestTimeToFree = Duration.milliseconds(500)

    /// Makes a consumer that connects to its brokers and joins no group yet. May be called from any thread.
    /// - Throws: `configuration` that names the property.
    public init(loop: EventLoop, configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        self.loop = loop
        self.log = log
        startFrom = configuration.startFrom
        readsOnPastEnd = configuration.properties["auto.offset.reset"] != nil
        client = try ClientHandle(
            .consumer, properties: configuration.librdkafka(.running), hiding: configuration.secrets, log: log)
        partitions = PartitionSources(client)
        commits = OffsetCommits(client, loop: loop, partitions: partitions)
        brokers = BrokerWatch(client, isReporting: true, loop: loop, log: log)
    }

    // MARK: - Joining and leaving

    /// Joins the group. Call it once.
    /// - Parameter topics: Their names, none of them a pattern. Partitions of others that the group hands over are not read.
    /// - Parameter listener: Told of each rebalance. It is kept weakly, because its owner owns the consumer too.
    public func subscribe(to topics: [String], listener: any RebalanceListener) throws(KafkaError) {
        group.listener = listener
        group.topics = Set(topics)
        client.signal.connect(client.events, as: PartitionSources.mainQueueNumber)
        loop.watch(client.signal.readEnd, for: .read, handler: self)
        scheduleTick()

        try client.subscribe(to: topics)
    }

    /// Ends reading: `records` returns an empty array from now on. Membership and partitions stay.
    public func stopReading() {
        reading.isOn = false
        wakeReader()
    }

    /// Revokes what is assigned (the listener is told, its offsets are committed), leaves the group and frees the
    /// client. The listener is waited for; the broker's answers at most `bound`. A client that takes longer to be freed,
    /// because a request of its own waits for a broker, is left to a thread of its own, or to the process's exit.
    public func close(within bound: Duration = .seconds(10)) async {
        guard !isClosed else { return }
        isClosed = true
        stopReading()

        let end = loop.now + bound
        group.leavesBefore = end
        await leaveGroup(before: end)
        await finishUses()

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

    /// Waits for everything that uses the client still, however long it takes.
    private func finishUses() async {
        var ended: Task<Void, Never>?
        // A rebalance may bring another, because its events are served meanwhile.
        while group.answer != ended || group.lookup != nil || group.startSearch != nil || group.resetLookup != nil
            || brokers.isProbing
        {
            ended = group.answer
            await ended?.value
            await group.lookup?.value
            await group.startSearch?.value
            await group.resetLookup?.value
            if brokers.isProbing { await loop.pause(.milliseconds(5)) }
        }
    }

    // MARK: - Reading

    /// Returns what is there as soon as at least one record is, up to `max`, at least 1, fairly over partitions.
    /// One caller at a time.
    /// - Returns: An empty array once `stopReading` or `close` was called, or the task was cancelled.
    /// - Throws: When the client can do no more (`fatal`, `fenced`).
    public func records(max: Int) async throws(KafkaError) -> [ConsumerRecord] {
        precondition(max > 0, "a reader that asks for no record would wait for good")
        while reading.isOn, !Task.isCancelled {
            if let failure = client.failure { throw failure }

            reading.hasNews = false
            let records = partitions.takeRecords(max: max) { brokers.report($0) }
            if !records.isEmpty {
                backlog?.note(records)
                return records
            }

            precondition(!reading.news.isAwaited, "a consumer has one reader")
            await withTaskCancellationHandler {
                await suspend(unless: reading.hasNews || Task.isCancelled) { reading.news.add($0) }
            } onCancel: {
                Task { await self.wakeReader() }
            }
        }

        if let failure = client.failure { throw failure }
        return []
    }

    /// The error that ends all reading (`fatal`, `fenced`), which `records` throws; `nil` while records may come.
    public nonisolated var failure: KafkaError? { client.failure }

    /// Leaves a partition's records where they are until `resume`.
    public func hold(_ partition: AssignedPartition) { partitions.source(partition)?.isHeld = true }

    /// Reads a partition's records again after `hold`.
    public func resume(_ partition: AssignedPartition) {
        guard let source = partitions.source(partition), source.isHeld else { return }
        source.isHeld = false
        source.mayHaveRecords = true
        wakeReader()
    }

    func wakeReader() {
        reading.hasNews = true
        reading.news.signal()
    }

    // MARK: - The loop's calls

    public nonisolated func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        assumeIsolated { $0.takeSignals() }
    }

    private func takeSignals() {
        var hasRecords = false
        for number in client.signal.drain() {
            if number == PartitionSources.mainQueueNumber {
                serveEvents()
            } else if let source = partitions.source(signalledAs: number) {
                source.mayHaveRecords = true
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

    /// Keeps the membership alive (`max.poll.interval.ms`), and makes up for a signal that found the pipe full.
    private func takeTick() {
        serveEvents()
        brokers.reportIfDue(at: loop.now)
        if !isClosed, brokers.shallProbe() { Task { await brokers.probe() } }

        findPendingStarts()
        lookUpOffsets()
        lookAtResets()
        reportBacklog()
        for source in partitions.inOrder { source.mayHaveRecords = true }
        wakeReader()
        scheduleTick()
    }

    private func serveEvents() {
        while let event = client.nextConsumerEvent() {
            switch event {
            case .rebalance(let event):
                group.refusal = nil
                // Answered by and by; librdkafka sends no other one before that.
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
                // Cannot be, because the queues are split off before the assignment. Going on would lose the record.
                client.noteFailure(KafkaError(.fatal, "a record came by the wrong queue; start the worker again"))
                wakeReader()
            case .other: break
            }
        }
    }
}
