internal import DequeModule
internal import EventContract
public import EventLoop
public import Kafka
public import LocationSearch
public import Logging
import Resilience

/// One event loop's worth of a worker: takes records from its consumer, runs each request, has its outcome delivered,
/// and only then counts the record as done. A process has `worker.loops` of them, each a member of the group.
public actor WorkerLane {
    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let configuration: WorkerConfiguration
    let consumer: KafkaConsumer
    var producer: KafkaProducer
    /// Makes another one when that has failed for good; `nil`: then the worker ends.
    let makeProducer: (@Sendable () throws(KafkaError) -> KafkaProducer)?
    /// When one was replaced, in the last minute.
    var replacements: [ContinuousClock.Instant] = []
    var closings: [Task<Void, Never>] = []
    let log: Logger
    let meters: WorkerMeters
    private let interactor: SearchInteractor
    let decoder: RequestDecoder
    var encoder = OutcomeEncoder()
    /// This lane's part of `worker.concurrency`.
    private let concurrency: Int

    var owned: [TopicPartition: OwnedPartition] = [:]
    let fleet: (any FleetMember)?
    private let departure: Departure
    /// Of the requests topic; 0: not known yet.
    var partitionCount = 0
    private let sequencer = OutcomeSequencer<OrderKey>()
    /// Flights whose tasks have yet to run, in the order of both.
    private var starting: Deque<(Flight, OutcomeSequencer<OrderKey>.Turn?)> = []
    /// Requests taken whose outcome is not yet handed to the producer.
    private var inFlight = 0
    private var window: InFlightWindow
    private var windowTimer: TimerID?
    private var roomWaiter: CheckedContinuation<Void, Never>?
    private(set) var isDraining = false
    private(set) var failure: (any Error)?
    var transactions = Transactions()
    var commitPace: CommitPace
    /// Of the next commit, or of the one under way; `nil` before the first and at the end.
    var commitTimer: TimerID?
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []

    /// Whose outcomes leave in order.
    private enum OrderKey: Hashable {
        case key(TopicPartition, [UInt8])
        case partition(TopicPartition)
    }

    /// - Parameter interactor: its worker and services live on the same loop.
    /// - Parameter makeProducer: one like `producer`, for when that has failed for good; `nil`: then the worker ends.
    /// - Parameter fleet: told at each rebalance how many of the topic's partitions are this lane's.
    /// - Parameter departure: shared by the lanes of a process.
    public init(
        loop: EventLoop, configuration: WorkerConfiguration, consumer: KafkaConsumer, producer: KafkaProducer,
        makeProducer: (@Sendable () throws(KafkaError) -> KafkaProducer)? = nil, interactor: SearchInteractor,
        fleet: (any FleetMember)? = nil, departure: Departure = Departure(lanes: 1), meters: WorkerMeters, log: Logger
    ) {
        self.makeProducer = makeProducer
        self.fleet = fleet
        self.departure = departure
        self.loop = loop
        self.configuration = configuration
        self.consumer = consumer
        self.producer = producer
        self.interactor = interactor
        self.meters = meters
        self.log = log
        decoder = RequestDecoder(maximumBytes: configuration.maxRequestBytes)
        let concurrency = max(1, configuration.concurrency / configuration.loops)
        self.concurrency = concurrency
        window = InFlightWindow(most: concurrency, asleep: .zero, at: .now)
        commitPace = CommitPace(interval: configuration.commitInterval, now: .now)
    }

    // MARK: - Taking records

    /// Joins the group and works until `drain`, cancellation, which means the same, or a fatal failure. Returns when
    /// everything taken is finished or given up, committed, and the group is left.
    /// - Throws: `KafkaError` after which nothing further may be committed.
    public func run() async throws {
        await withTaskCancellationHandler {
            do {
                try await startTransactions()
                try await consumer.subscribe(to: [configuration.topics.requests], listener: self)
                startCommits()
                try await takeRecords()
            } catch {
                fail(error)
            }
            await finishUp()
        } onCancel: {
            Task { await drain() }
        }
        if let failure { throw failure }
    }

    private func takeRecords() async throws(KafkaError) {
        while !isDraining, failure == nil {
            // Reading gives a cancelled task nothing any more, at once.
            if Task.isCancelled { await drain() }
            window.adapt(inFlight: inFlight, asleep: loop.asleep, at: .now)
            let room = await waitForRoom()
            let records = try await consumer.records(max: min(room, 64))
            // They may have been long in coming, and the process stopped meanwhile: then what is read waits.
            if commitsAreOverdue {
                _ = await waitForRoom()
                if isDraining || failure != nil { return }
            }
            for record in records { take(record) }
        }
    }

    /// Begins the end: nothing more is taken, what is in flight finishes.
    public func drain() async {
        guard !isDraining else { return }
        isDraining = true
        wakeForRoom()
        await consumer.stopReading()
    }

    private func waitForRoom() async -> Int {
        while true {
            // Looked at once, for time alone can take it away.
            let room = room
            if room > 0 { return room }
            await withCheckedContinuation { waiter in
                // Looked at again: others may run between an `await` and its body.
                guard self.room == 0 else { return waiter.resume() }
                roomWaiter = waiter
                watchWindow()
            }
        }
    }

    /// Where the window holds something back, it may widen although nothing ends meanwhile.
    private func watchWindow() {
        guard window.limit < concurrency, windowTimer == nil else { return }
        windowTimer = loop.schedule(at: .now + InFlightWindow.period) { [weak self] in
            self?.assumeIsolated { lane in
                lane.windowTimer = nil
                lane.window.adapt(inFlight: lane.inFlight, asleep: lane.loop.asleep, at: .now)
                lane.wakeForRoom()
            }
        }
    }

    /// How many more records may be taken. 1 at the end, for nobody waits then. Who adds to it wakes whom waits for it.
    private var room: Int {
        guard !isDraining, failure == nil else { return 1 }
        guard !commitsAreOverdue, undeliveredBytes < configuration.maxUndeliveredBytes else { return 0 }
        return unfinishedCount < configuration.maxUndelivered + concurrency ? max(0, window.limit - inFlight) : 0
    }

    /// Requests taken and not yet confirmed delivered.
    private var unfinishedCount = 0
    /// What of their outcomes and dead letters the producer has. Transactions take theirs in pieces of their own.
    private var undeliveredBytes = 0

    func wakeForRoom() {
        guard let waiter = roomWaiter else { return }
        roomWaiter = nil
        waiter.resume()
    }

    private func take(_ record: ConsumerRecord) {
        guard let partition = owned[record.partition.id], partition.id == record.partition, !partition.isLeaving,
            let slot = partition.tracker.begin(record.offset)
        else { return }
        let flight = Flight(record: IncomingRecord(record), partition: partition, slot: slot)
        partition.flights[ObjectIdentifier(flight)] = flight
        inFlight += 1
        unfinishedCount += 1
        meters.taken()
        if !partition.isHeld, partition.tracker.span >= configuration.maxSpan {
            partition.isHeld = true
            Task { await consumer.hold(partition.id) }
        }
        starting.append((flight, orderKey(of: record).map { sequencer.line(up: $0) }))
        flight.task = Task(executorPreference: loop) { await self.processNext() }
    }

    private func orderKey(of record: ConsumerRecord) -> OrderKey? {
        switch configuration.ordering {
        case .unordered: nil
        case .partition: .partition(record.partition.id)
        // Without a key there is nothing to keep in order.
        case .key: record.key.map { .key(record.partition.id, $0) }
        }
    }

    // MARK: - One request
    //
    // The async functions of the way are inlined where they are called once: each one that is not has a frame of its own,
    // and the runtime looks up the task's executor, under a lock, when it is entered and when it is left.

    /// A task cannot be handed a flight, which is the lane's own; it takes the one that waits longest.
    @inline(__always)
    private func processNext() async {
        guard let (flight, turn) = starting.popFirst() else { return }
        await process(flight, turn)
    }

    /// Record in, outcome out, offset done: the way of one request.
    @inline(__always)
    private func process(_ flight: Flight, _ turn: OutcomeSequencer<OrderKey>.Turn?) async {
        var outgoing = await outcome(of: flight)
        if let turn { await sequencer.wait(for: turn) }
        inFlight -= 1
        wakeForRoom()
        if flight.fate == .abandoned || failure != nil {
            if let turn { sequencer.leave(turn) }
            meters.wasted(outgoing.calls)
            return finish(flight, delivered: false)
        }
        flight.isPublishing = true
        if configuration.delivery == .exactlyOnce {
            // Transactions take outcomes in the order of their offsets.
            if let turn { sequencer.leave(turn) }
            return release(flight, outgoing)
        }
        let bytes = outgoing.bytes
        undeliveredBytes += bytes
        let isDelivered: Bool
        do throws(KafkaError) {
            // The next in line may go: its outcome is behind this one in the producer's queue.
            try await deliver(&outgoing, of: flight) { if let turn { sequencer.leave(turn) } }
            isDelivered = true
        } catch {
            // Closed at the worker's end, with outcomes that no broker took: `finishUp` has said what becomes of them.
            if error.kind != .closed || !isDraining { fail(error) }
            if let turn { sequencer.leave(turn) }
            isDelivered = false
        }
        undeliveredBytes -= bytes
        finish(flight, delivered: isDelivered)
    }

    /// What leaves for a request.
    struct Outgoing: Sendable {
        /// Its outcome event, and the dead letter of a record that is no request.
        var records: [ProducerRecord]
        /// Made for it, each of which may have cost money.
        var calls = 0
        /// Those of the records that stand in for one that Kafka refused as too large.
        var brief: Set<Int> = []

        /// Of the records' values.
        var bytes: Int { records.reduce(0) { $0 + ($1.value?.count ?? 0) } }
    }

    @inline(__always)
    private func outcome(of flight: Flight) async -> Outgoing {
        let receivedAt = EventTime.now()
        let decoded: DecodedRequest
        do throws(RejectedRecord) {
            decoded = try decoder.decode(flight.record)
        } catch {
            return rejection(of: flight.record, error, receivedAt)
        }
        let outcome = await run(decoded, flight, receivedAt)
        if flight.fate != .abandoned { meters.finished(outcome) }
        let encoded = encoder.encode(
            outcome, for: decoded.envelope, receivedAt: receivedAt, completedAt: EventTime.now())
        return Outgoing(
            records: [ProducerRecord(encoded, topics: configuration.topics)], calls: outcome.attempts)
    }

    private func rejection(of record: IncomingRecord, _ error: RejectedRecord, _ receivedAt: EventTime) -> Outgoing {
        meters.rejected()
        let encoded = encoder.encode(error, receivedAt: receivedAt, completedAt: EventTime.now())
        let letter = DeadLetter(record, error: error.error, at: receivedAt)
        return Outgoing(records: [
            ProducerRecord(encoded, topics: configuration.topics),
            ProducerRecord(letter, topics: configuration.topics),
        ])
    }

    @inline(__always)
    private func run(_ decoded: DecodedRequest, _ flight: Flight, _ receivedAt: EventTime) async -> SearchOutcome {
        let time: Duration
        do throws(SearchError) {
            time = try self.time(of: decoded, receivedAt)
        } catch {
            return SearchOutcome(decoded.request, error)
        }
        supersede(olderThan: flight, decoded.request)
        let outcome = await interactor.run(decoded.request, before: Deadline(.now + time), note: flight.note)
        leaveSession(flight, decoded.request)
        guard flight.fate == .superseded else { return outcome }
        meters.wasted(outcome.attempts)
        return SearchOutcome(
            decoded.request, SearchError(.superseded, "a newer request of the same session arrived"))
    }

    /// How long a request may take.
    private func time(of decoded: DecodedRequest, _ receivedAt: EventTime) throws(SearchError) -> Duration {
        var time = min(decoded.request.timeout ?? configuration.deadline, configuration.maxDeadline)
        if let maxAge = configuration.maxAge, let made = decoded.envelope.time {
            let age = max(.zero, receivedAt.duration(since: made))
            guard age <= maxAge else {
                throw SearchError(
                    .expired, "the request was older than worker.maxAge when it was read; send it again")
            }
            // Where age counts, it counts against the time that the request itself asked for as well.
            if decoded.request.timeout != nil { time -= age }
        }
        if let left = decoded.envelope.expiry?.duration(since: receivedAt) { time = min(time, left) }
        guard time > .zero else {
            throw SearchError(.expired, "the request's own time was over when it was read; send it again")
        }
        return time
    }

    /// Within a partition, a newer search of the same session ends the one in flight. Offsets decide, so that a record
    /// delivered again never ends a newer one.
    private func supersede(olderThan flight: Flight, _ request: SearchRequest) {
        guard let session = request.sessionID, request.operation == .search else { return }
        guard let other = flight.partition.sessions[session] else {
            flight.partition.sessions[session] = flight
            return
        }
        if other.offset < flight.offset {
            flight.partition.sessions[session] = flight
            other.end(as: .superseded)
        } else {
            flight.end(as: .superseded)
        }
    }

    private func leaveSession(_ flight: Flight, _ request: SearchRequest) {
        guard let session = request.sessionID, flight.partition.sessions[session] === flight else { return }
        flight.partition.sessions[session] = nil
    }

    func finish(_ flight: Flight, delivered: Bool) {
        let partition = flight.partition
        partition.flights[ObjectIdentifier(flight)] = nil
        unfinishedCount -= 1
        meters.settled()
        if delivered, owned[partition.id.id] === partition {
            partition.tracker.finish(flight.slot)
            if partition.isHeld, partition.tracker.span < configuration.maxSpan / 2 {
                partition.isHeld = false
                Task { await consumer.resume(partition.id) }
            }
        }
        wakeForRoom()
        if unfinishedCount == 0 || partition.isIdle { wakeIdleWaiters() }
    }

    // MARK: - The end

    /// A fatal failure: nothing more is taken, published or committed.
    func fail(_ error: any Error) {
        guard failure == nil else { return }
        failure = error
        log.error("worker stops: Kafka failed for good", metadata: ["reason": "\(error)"])
        for partition in owned.values { for flight in partition.flights.values { flight.end(as: .abandoned) } }
        wakeForRoom()
        // Nobody waits for what has failed: not for transactions either, whose outcomes have no task any more.
        wakeIdleWaiters()
        Task { await consumer.stopReading() }
    }

    private func finishUp() async {
        let end = ContinuousClock.now + configuration.shutdownGrace
        await limitTransactions(to: end)
        if failure == nil { await waitUntilIdle(owned.values.map { $0 }, before: end) }
        await endTransactions()
        if failure == nil { await endCommits(before: end) }
        await departure.committed()
        if failure == nil { await departure.all() }
        await consumer.close(within: .seconds(failure == nil ? 10 : 2))
        if failure == nil, await !producer.flush(within: .seconds(5)), configuration.delivery == .atLeastOnce {
            let undelivered = await producer.undelivered
            log.warning(
                "the brokers do not answer: what is not delivered by now will be done again",
                metadata: ["records": "\(undelivered)"])
        }
        await producer.close()
        for closing in closings { await closing.value }
    }

    /// Waits for what is in flight on `partitions`; what is not done in time is given up.
    func waitUntilIdle(_ partitions: [OwnedPartition], before end: ContinuousClock.Instant) async {
        let timer = loop.schedule(at: end) { [weak self] in self?.assumeIsolated { $0.wakeIdleWaiters() } }
        func mustWait() -> Bool {
            failure == nil && partitions.contains { !$0.isIdle } && ContinuousClock.now < end
        }
        while mustWait() {
            await withCheckedContinuation { waiter in
                if mustWait() { idleWaiters.append(waiter) } else { waiter.resume() }
            }
        }
        loop.cancel(timer)
        for partition in partitions { giveUp(partition) }
    }

    /// Ends what is still in flight on a partition without outcomes: whoever has it next does it again.
    func giveUp(_ partition: OwnedPartition) {
        for flight in partition.flights.values { flight.end(as: .abandoned) }
    }

    private func wakeIdleWaiters() {
        let waiters = idleWaiters
        idleWaiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }

    // MARK: - Status

    /// What this lane has under way. Cheap.
    public var status: LaneStatus {
        get async {
            let positions = await consumer.positions
            return LaneStatus(
                positions: positions.map { position in
                    let partition = owned[position.partition.id]
                    return LaneStatus.Partition(
                        id: position.partition.id, inFlight: partition?.flights.count ?? 0,
                        committed: position.committed, end: position.end)
                },
                inFlight: inFlight, undelivered: unfinishedCount - inFlight,
                brokersAreDown: await consumer.brokersAreDown, isDraining: isDraining,
                commitOverdue: configuration.delivery == .atLeastOnce ? commitPace.overdue(at: .now) : nil)
        }
    }
}
