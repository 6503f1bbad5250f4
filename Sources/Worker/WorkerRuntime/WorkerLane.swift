internal import DequeModule
internal import EventContract
package import EventLoop
internal import Kafka
package import Logging
internal import ProviderCalls
internal import QuotaSharing

/// Takes records from a consumer, runs their requests and publishes their outcomes, all on one event loop. A record is done
/// once the brokers have acknowledged its outcome. A process has `worker.loops` lanes, each a member of the group.
///
/// The intake decides how many requests may be taken. The partition table registers the record, and the runner produces
/// its outcome. The delivery publishes the outcome and finishes the request in the table, which makes room for new
/// requests. These parts are plain objects on the lane's executor: see docs/internals/architecture.md.
package actor WorkerLane {
    /// The most records in one read: enough to keep the loop busy, few enough to check for room often.
    static let largestRead = 64
    /// The interval at which the lane checks whether its client has failed.
    private static let failureCheckInterval = Duration.seconds(1)

    package nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let configuration: WorkerConfiguration
    let source: any RequestSource
    let gate: IntakeGate
    let partitions: PartitionTable
    /// The requests that wait to begin; `nil` if requests do not differ in class or tenant, and begin in the order in
    /// which they come.
    let waitingRoom: WaitingRoom?
    let runner: RequestRunner
    let delivery: LaneDelivery
    let carefulIntake: CarefulIntake
    let rebalancing: Rebalancing
    private let shutdown: LaneShutdown
    let log: Logger
    var state = LaneState.running
    private var isPrepared = false
    var suspended = SuspendedRequests()

    /// - Parameter source: the consumer, on the same loop.
    /// - Parameter sink: the producer, on the same loop.
    /// - Parameter makeSink: makes a replacement for `sink` after a fatal error. `nil`: the worker then ends.
    /// - Parameter makeSingleSink: makes a producer whose batches hold one record each. `nil`: a record that is refused
    ///   with its batch is retried in another batch.
    /// - Parameter providers: the searches, which belong to the lane from now on.
    /// - Parameter link: publishes the fleet member's messages; `nil`: they are discarded.
    /// - Parameters departure, exclusiveLock: shared by the lanes of a process.
    /// - Parameter tracing: starts the trace of each request; `nil`: requests are not traced.
    package init(
        loop: EventLoop, configuration: WorkerConfiguration, source: any RequestSource, sink: any OutcomeSink,
        makeSink: SinkMaker? = nil, makeSingleSink: SinkMaker? = nil, providers: sending LaneProviders,
        link: FleetLink? = nil,
        departure: DepartureBarrier = DepartureBarrier(lanes: 1), exclusiveLock: ExclusiveLock = ExclusiveLock(),
        meters: WorkerMeters, tracing: RequestTracing? = nil, log: Logger
    ) {
        (self.loop, self.configuration, self.source, self.log) = (loop, configuration, source, log)
        gate = IntakeGate(configuration.intakeLimits, loop: loop)
        partitions = PartitionTable(
            source: source, gate: gate, configuration: configuration, meters: meters, loop: loop, log: log)
        if let calls = providers.calls, configuration.ordersRequests {
            waitingRoom = WaitingRoom(configuration, gate: gate, partitions: partitions, calls: calls, loop: loop)
        } else {
            waitingRoom = nil
        }
        runner = RequestRunner(
            providers: providers, configuration: configuration, loop: loop, meters: meters,
            tracing: tracing, log: log)

        delivery = LaneDelivery(
            sink: sink, makeSink: makeSink, makeSingleSink: makeSingleSink, source: source, partitions: partitions,
            gate: gate, configuration: configuration, loop: loop, meters: meters, log: log)
        carefulIntake = CarefulIntake(
            partitions: partitions, delivery: delivery, source: source, exclusiveLock: exclusiveLock,
            looksAhead: waitingRoom != nil, loop: loop, log: log)
        rebalancing = Rebalancing(
            partitions: partitions, waitingRoom: waitingRoom, delivery: delivery, source: source,
            fleet: FleetTicker(providers.fleet, link: link, loop: loop), configuration: configuration, loop: loop,
            meters: meters, log: log)
        shutdown = LaneShutdown(
            partitions: partitions, delivery: delivery, source: source, departure: departure, loop: loop)
    }

    // MARK: - Life cycle

    /// Joins the group and works until `drain`, a fatal failure, or cancellation, which means the same as `drain`.
    /// Returns when all taken requests are finished or abandoned, offsets are committed, and the lane has left the
    /// group.
    /// - Throws: the `KafkaError` that ended the lane.
    package func run() async throws {
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

    /// Performs, once, the steps that can fail before the group is joined. `run` calls it if that has not happened.
    ///
    /// A process prepares all its lanes before any of them joins the group. Otherwise the failed start of one lane would make
    /// another one leave: two needless rebalances.
    /// - Returns: `false` if the lane has failed. `run` then throws the reason.
    @discardableResult
    package func prepare() async -> Bool {
        guard !isPrepared, state.isRunning else { return state.failure == nil }
        isPrepared = true

        do throws(KafkaError) {
            try await delivery.outcomes.prepare()
        } catch {
            // If the lane drains before it has begun, the drain itself interrupted this call.
            if !state.isDraining { fail(error) }
        }
        return state.failure == nil
    }

    /// Takes and runs requests until the lane drains or fails.
    /// - Returns: the task of the delivery, if it has begun.
    private func work() async -> Task<Void, Never>? {
        await prepare()
        guard state.isRunning else { return nil }

        carefulIntake.join { [weak self] in await self?.isQuiet ?? true }
        delivery.atLeastOnce?.onWaiting = { [unowned self] in
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

    /// Ends the lane when its client has failed fatally. `records()` throws this error, but a paused lane never calls
    /// `records()`. It may be paused indefinitely by missing quota, a note, a commit, or a control order.
    private func watchSource() async {
        while state.isRunning, (try? await loop.sleep(for: Self.failureCheckInterval)) != nil {
            if state.isRunning, let failure = await source.failure { fail(failure) }
        }
    }

    private func runDelivery() async {
        do throws(KafkaError) {
            try await delivery.offsets.run()
        } catch {
            fail(error)
        }
    }

    private func deliverNext() async {
        do throws(KafkaError) {
            try await delivery.atLeastOnce?.deliverNext()
        } catch {
            fail(error)
        }
    }

    /// Begins the shutdown: the lane takes no new requests, and those in flight have `worker.shutdownGrace` to finish.
    package func drain() async {
        guard state.isRunning else { return }
        let end = loop.now + configuration.shutdownGrace
        state = .draining(until: end)
        gate.close()
        partitions.beginDrain()
        publishDemand()
        await emptyWaitingRoom()
        await delivery.transactions?.limit(to: end)
        await source.stopReading()
    }

    /// Ends the lane after a fatal failure: no further request is taken, and no further outcome is published.
    private func fail(_ error: any Error) {
        guard state.failure == nil else { return }
        state = .failed(error)
        if (error as? KafkaError)?.isMemberReplaced == true {
            log.error(
                "worker stops: another process joined the group with the same kafka.groupInstanceId",
                metadata: ["reason": "\(error)"])
        } else {
            log.error("worker stops: Kafka failed permanently", metadata: ["reason": "\(error)"])
        }

        gate.close()
        partitions.abandonAll()
        delivery.outcomes.stop()
        Task(executorPreference: loop) { await self.cutShort() }
    }

    /// Ends the waits for Kafka that would otherwise delay a failed lane before it leaves its group.
    private func cutShort() async {
        await emptyWaitingRoom()
        await delivery.transactions?.cutCallsShort()
        await source.stopReading()
    }

    private func end(delivering: Task<Void, Never>?) async {
        switch state {
        case .failed: await shutdown.abandon(delivering: delivering)
        case .draining(let end):
            await shutdown.drain(until: end, delivering: delivering, hasFailed: { state.failure != nil })
        // Reading ends in this state only if the source was closed from outside.
        case .running:
            await drain()
            await end(delivering: delivering)
        }
    }

    /// Applies control orders, replacing the previous ones.
    func apply(_ controls: LaneControls) {
        runner.searches?.apply(controls)
        gate.isPaused = !controls.isIntakeOpen
        gate.limit(inFlight: controls.concurrency)
        publishDemand()
    }
}

/// The requests that wait for something between two jobs of the loop. Closures and tasks cannot hold them: see
/// docs/internals/concurrency.md, 4. Each list is in the order in which its tasks were started.
struct SuspendedRequests {
    /// Requests that wait for the dead letters of earlier records.
    var behindDeadLetters: Deque<RequestInProgress> = []
    /// Requests of watched partitions that begin once the brokers have the notes about them.
    var behindNotes: Deque<RequestInProgress> = []
    /// Requests that wait for their position in the order of outcomes.
    var behindOrder: Deque<RequestInProgress> = []
}
