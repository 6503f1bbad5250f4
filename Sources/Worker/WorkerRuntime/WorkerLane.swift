internal import Basics
internal import DequeModule
internal import EventContract
public import EventLoop
public import Kafka
public import Logging
public import ProviderCalls
public import QuotaSharing

/// One event loop's worth of a worker: takes records from its source, runs each request, has its outcome delivered, and
/// only then counts the record as done. A process has `worker.loops` of them, each a member of the group.
///
/// A request goes one way: the intake decides how much may be taken, the partition table takes the record in, the runner
/// makes an outcome of it, the delivery publishes that and finishes the request at the table, which makes room at the
/// intake. The parts are plain objects on the lane's executor: see docs/internals/architecture.md.
public actor WorkerLane {
    /// The most records read at once: enough to keep the loop busy, few enough to look at the room often.
    static let largestRead = 64
    /// How often the lane looks whether its client has failed.
    private static let timeBetweenLooks = Duration.seconds(1)

    public nonisolated let loop: EventLoop
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let configuration: WorkerConfiguration
    let source: any RequestSource
    let gate: IntakeGate
    let partitions: PartitionTable
    /// Where requests wait to begin; `nil` where all are alike, and begin in the order in which they come.
    let waitingRoom: WaitingRoom?
    let flowRule: FlowRule
    let calls: (any CallQueues)?
    let runner: RequestRunner
    let delivery: any OutcomeDelivery
    let carefulIntake: CarefulIntake
    let rebalancing: Rebalancing
    private let shutdown: LaneShutdown
    private let log: Logger
    let meters: WorkerMeters
    var state = LaneState.running
    private var isPrepared = false
    /// `false` while no request may begin: the orders of people are not known yet, or say so.
    private(set) var isIntakeOpen = true
    /// Requests for which providers are asked.
    private var searching = NumberedValues<RequestInProgress>()
    /// Requests whose tasks have yet to run, in the order of both: they wait for dead letters, or for their turn to leave.
    private var waitingForDeadLetters: Deque<(RequestInProgress, DecodedRequest)> = []
    private var leaving: Deque<(RequestInProgress, OutgoingOutcome)> = []
    /// Requests of watched partitions that begin once the brokers have the note of them.
    var noting: Deque<RequestInProgress> = []

    /// - Parameter source: the consumer, on the same loop.
    /// - Parameter sink: the producer, on the same loop.
    /// - Parameter makeSink: makes one like `sink`, for when that has failed for good. `nil`: then the worker ends.
    /// - Parameter makeSingleSink: makes one like `sink` that puts each record into a batch of its own. `nil`: then a record
    ///   that is refused with its batch is sent again in another batch.
    /// - Parameter interactor: its worker and services live on the same loop.
    /// - Parameter calls: the lines in which calls wait, on the same loop. `nil`: requests begin in the order in which they come.
    /// - Parameter fleet: told at each rebalance which partitions of the first request topic are this lane's.
    /// - Parameter link: publishes the messages of the fleet's members; `nil`: none is published.
    /// - Parameters departure, loneTurn: shared by the lanes of a process.
    /// - Parameter tracing: starts the trace of each request; `nil`: none is traced.
    public init(
        loop: EventLoop, configuration: WorkerConfiguration, source: any RequestSource, sink: any OutcomeSink,
        makeSink: (@Sendable () throws(KafkaError) -> any OutcomeSink)? = nil,
        makeSingleSink: (@Sendable () throws(KafkaError) -> any OutcomeSink)? = nil, interactor: SearchInteractor,
        calls: (any CallQueues)? = nil, fleet: (any FleetMember)? = nil, link: (any FleetPublisher)? = nil,
        departure: DepartureBarrier = DepartureBarrier(lanes: 1), loneTurn: LoneTurn = LoneTurn(),
        meters: WorkerMeters, tracing: RequestTracing? = nil, log: Logger
    ) {
        self.loop = loop
        self.configuration = configuration
        self.source = source
        self.meters = meters
        self.log = log
        gate = IntakeGate(configuration.intakeLimits, loop: loop)
        partitions = PartitionTable(
            source: source, gate: gate, configuration: configuration, meters: meters, loop: loop, log: log)
        flowRule = FlowRule(configuration)
        let calls = configuration.ordersRequests ? calls : nil
        let waitingRoom: WaitingRoom? =
            if let calls {
                WaitingRoom(configuration, gate: gate, partitions: partitions, calls: calls, loop: loop)
            } else {
                nil
            }
        (self.calls, self.waitingRoom) = (calls, waitingRoom)
        runner = RequestRunner(
            interactor: interactor, configuration: configuration, loop: loop, meters: meters, tracing: tracing,
            log: log)

        let parts = DeliveryParts(
            sink: sink, makeSink: makeSink, makeSingleSink: makeSingleSink, source: source, partitions: partitions,
            gate: gate, configuration: configuration, loop: loop, meters: meters, log: log)
        delivery = parts.makeDelivery()
        carefulIntake = CarefulIntake(
            partitions: partitions, delivery: delivery, source: source, loneTurn: loneTurn,
            looksAhead: waitingRoom != nil, loop: loop, log: log)
        rebalancing = Rebalancing(
            partitions: partitions, waitingRoom: waitingRoom, delivery: delivery, source: source,
            fleet: FleetTicker(fleet, link: link, loop: loop), configuration: configuration, loop: loop, log: log)
        shutdown = LaneShutdown(
            partitions: partitions, delivery: delivery, source: source, departure: departure, loop: loop)
    }

    // MARK: - The lane's life

    /// Joins the group and works until `drain`, cancellation, which means the same, or a fatal failure. Returns when
    /// everything taken is finished or given up, committed, and the group is left.
    /// - Throws: `KafkaError` after which nothing further may be committed.
    public func run() async throws {
        await withTaskCancellationHandler {
            let watching = Task(executorPreference: loop) { await self.watchSource() }
            let counting = Task(executorPreference: loop) { await self.watchPartitionCount() }
            let delivering = await work()
            watching.cancel()
            await end(delivering: delivering)
            counting.cancel()
            await rebalancing.fleet.stop()
        } onCancel: {
            Task(executorPreference: loop) { await self.drain() }
        }
        if let failure = state.failure { throw failure }
    }

    /// Does what can fail before the group is joined, once. `run` does it where nobody has.
    ///
    /// A process prepares all its lanes before it runs any: a lane that cannot begin after another has joined would take that
    /// one out of the group again, at the cost of two rebalances for everybody.
    /// - Returns: `false` when the lane has failed. `run` then throws why.
    @discardableResult
    public func prepare() async -> Bool {
        guard !isPrepared, state.isRunning else { return state.failure == nil }
        isPrepared = true

        do throws(KafkaError) {
            try await delivery.prepare()
        } catch {
            // A lane that drains before it has begun has cut short whatever failed here.
            if !state.isDraining { fail(error) }
        }
        return state.failure == nil
    }

    /// Takes and runs requests until the lane drains or fails.
    /// - Returns: the delivery's own work, if it began.
    private func work() async -> Task<Void, Never>? {
        await prepare()
        guard state.isRunning else { return nil }

        carefulIntake.join { [weak self] in await self?.isQuiet ?? true }
        delivery.onWaiting = { [unowned self] in
            Task(executorPreference: self.loop) { await self.deliverNext() }
        }
        var delivering: Task<Void, Never>?
        do throws(KafkaError) {
            Task(executorPreference: loop) { await self.runFleetTicker() }
            try await source.subscribe(to: configuration.topics.requestTopics.map(\.name), listener: self)
            delivering = Task(executorPreference: loop) { await self.runDelivery() }
            if waitingRoom == nil { try await takeRecords() } else { try await fillWaitingRoom() }
        } catch {
            fail(error)
        }
        await carefulIntake.waitForEnd()
        return delivering
    }

    private func runFleetTicker() async { await rebalancing.fleet.run() }

    private func watchPartitionCount() async { await rebalancing.watchPartitionCount() }

    /// Ends the lane when its client has failed for good. Who reads is told, but a lane whose intake waits does not read: for a share of
    /// the quota, a note, a commit, or a person's order, for however long.
    private func watchSource() async {
        while state.isRunning, (try? await loop.sleep(for: Self.timeBetweenLooks)) != nil {
            if state.isRunning, let failure = await source.failure { fail(failure) }
        }
    }

    private func runDelivery() async {
        do throws(KafkaError) {
            try await delivery.run()
        } catch {
            fail(error)
        }
    }

    private func deliverNext() async {
        do throws(KafkaError) {
            try await delivery.deliverNext()
        } catch {
            fail(error)
        }
    }

    /// Begins the end: nothing more is taken, what is in flight has `worker.shutdownGrace` to finish.
    public func drain() async {
        guard state.isRunning else { return }
        let end = loop.now + configuration.shutdownGrace
        state = .draining(until: end)
        gate.close()
        await emptyWaitingRoom()
        await delivery.limit(to: end)
        await source.stopReading()
    }

    /// Ends the lane after a fatal failure: nothing more is taken, published or committed.
    private func fail(_ error: any Error) {
        guard state.failure == nil else { return }
        state = .failed(error)
        if (error as? KafkaError)?.saysMemberWasReplaced == true {
            log.error(
                "worker stops: another process has its place in the group, under the same kafka.groupInstanceId",
                metadata: ["reason": "\(error)"])
        } else {
            log.error("worker stops: Kafka failed for good", metadata: ["reason": "\(error)"])
        }

        gate.close()
        partitions.abandonAll()
        delivery.stop()
        Task(executorPreference: loop) { await self.cutShort() }
    }

    /// Ends the waits for Kafka that a failed lane would else sit out before it leaves its group.
    private func cutShort() async {
        await emptyWaitingRoom()
        await delivery.cutCallsShort()
        await source.stopReading()
    }

    private func end(delivering: Task<Void, Never>?) async {
        switch state {
        case .failed: await shutdown.abandon(delivering: delivering)
        case .draining(let end):
            await shutdown.drain(until: end, delivering: delivering, hasFailed: { state.failure != nil })
        // Reading ends without either only when the source was closed from outside.
        case .running:
            await drain()
            await end(delivering: delivering)
        }
    }

    /// Follows the orders of people, in place of those before.
    func apply(_ controls: LaneControls) {
        isIntakeOpen = controls.isIntakeOpen
        gate.limit(inFlight: controls.concurrency)
    }

    // MARK: - One request

    private var isQuiet: Bool { partitions.isQuiet }

    @discardableResult
    func begin(
        _ record: ConsumerRecord, of partition: OwnedPartition, at arrival: RecordArrival,
        _ how: CrashWatch.Permission = .runs
    ) -> RequestInProgress? {
        if waitingRoom != nil, how == .runs { return enter(record, of: partition, at: arrival) }
        let request =
            waitingRoom == nil
            ? partitions.take(record, of: partition, at: arrival)
            : takePastOthers(record, of: partition, at: arrival, isDecoded: how == .runsAlone)
        guard let request else { return nil }
        request.permission = how
        start(request)
        return request
    }

    /// Record in, outcome out: the way of one request, which has no task of its own.
    func start(_ request: RequestInProgress) {
        switch runner.read(request) {
        case .rejected(let rejection):
            partitions.expectDeadLetter(of: request)
            end(request, with: rejection)
        case .request(let decoded):
            if request.partition.awaitsDeadLetter(before: request.slot) {
                waitingForDeadLetters.append((request, decoded))
                gate.leaveFlight()
                Task(executorPreference: loop) { await self.startBehindDeadLetters() }
            } else {
                search(decoded, for: request)
            }
        }
    }

    /// Starts a request once the dead letters of earlier records of its partition are written. That takes no place in flight from
    /// other partitions, and no time from the request. A task cannot be handed it: see docs/internals/concurrency.md, 4.
    private func startBehindDeadLetters() async {
        guard let (request, decoded) = waitingForDeadLetters.popFirst() else { return }
        await request.partition.waitForDeadLetters(before: request)
        guard request.fate != .abandoned else { return drop(request, calls: 0) }
        gate.returnToFlight()
        search(decoded, for: request)
    }

    private func search(_ decoded: DecodedRequest, for request: RequestInProgress) {
        let number = searching.insert(request)
        let outcome = runner.begin(decoded, of: request) { report in
            self.assumeIsolated { $0.endSearch(number, with: report) }
        }
        guard let outcome else { return }
        searching.remove(number)
        end(request, with: outcome)
    }

    private func endSearch(_ number: Int, with report: SearchReport) {
        guard let request = searching.remove(number) else { return }
        var report = report
        end(request, with: runner.end(request, with: &report))
    }

    /// Hands an outcome over when its turn has come.
    private func end(_ request: RequestInProgress, with outcome: OutgoingOutcome) {
        // A record that ran alone, or is set aside, may have overtaken requests that wait for a place and must leave before it. A record
        // that is no request may have to leave after one that waits for a dead letter, and so for what has yet to begin.
        if !keepsPlace(request) { gate.leaveFlight() }
        guard request.turn?.hasCome == false || request.permission == .runsAlone else {
            return leave(request, with: outcome)
        }
        leaving.append((request, outcome))
        Task(executorPreference: loop) { await self.leaveNext() }
    }

    private func keepsPlace(_ request: RequestInProgress) -> Bool {
        waitingRoom == nil || (request.permission == .runs && request.decoded != nil)
    }

    private func leaveNext() async {
        guard let (request, outcome) = leaving.popFirst() else { return }
        await request.turn?.wait()
        // What it did is about to be committed, so that nothing may be said of it any more.
        if request.permission == .runsAlone { await source.commitOnCrash(nil) }
        leave(request, with: outcome)
    }

    private func leave(_ request: RequestInProgress, with outcome: OutgoingOutcome) {
        if isPutBack(.placeNotReturned), request.fate == .abandoned { gate.returnToFlight() }
        if keepsPlace(request) { gate.leaveFlight() }
        if waitingRoom != nil { WaitingRoom.charge(request, for: outcome.calls) }
        guard request.fate != .abandoned, state.failure == nil else { return drop(request, calls: outcome.calls) }

        delivery.deliver(outcome, of: request)
    }

    private func drop(_ request: RequestInProgress, calls: Int) {
        if !isPutBack(.turnKept) { request.leaveTurn() }
        meters.calls.countWasted(calls)
        partitions.finish(request, isDelivered: false)
    }
}
