import Basics
import EventContract
import EventLoop
import Kafka
@testable import LocationSearch
import Logging
import Observability
import ProviderCalls
import Resilience
import SimulatedLoop
import Synchronization
import WorkerRuntime

/// A whole lane with transactions on a simulated loop, with a source of one partition, and a provider and a sink that answer after a while.
struct SimulatedLaneFixture {
    let simulation: Simulation
    let loop: SimulatedLoop
    let lane: WorkerLane
    let source: HarnessSource
    let sink: HarnessSink
    /// Replaces the first sink after that has failed permanently.
    let nextSink: HarnessSink
    let provider: HarnessProvider

    /// - Parameters:
    ///   - count: the number of requests.
    ///   - silence: the end of a transaction that the brokers never answer.
    init(seed: UInt64, requests count: Int, silence: HarnessSink.End? = nil) {
        simulation = Simulation(seed: seed)
        loop = simulation.makeLoop("lane")
        let events = loop.eventLoop
        source = HarnessSource(count: count, on: events)
        sink = HarnessSink(on: events, silence: silence)
        nextSink = HarnessSink(on: events)
        provider = HarnessProvider(on: events)

        var configuration = WorkerConfiguration()
        configuration.delivery = .exactlyOnce
        let searches = SearchWorker(
            policies: [.hotpepper: ProviderPolicy(concurrency: 64)], name: "lane", clock: LoopClock(events),
            timekeeper: LoopTimekeeper(events), random: events.random)
        var log = Logger(label: "lane")
        log.logLevel = .critical
        lane = WorkerLane(
            loop: events, configuration: configuration, source: source, sink: sink,
            makeSink: { @Sendable [nextSink] () throws(KafkaError) in nextSink },
            providers: LaneProviders(searches, selection: ProviderSelection(services: [provider])),
            meters: WorkerMeters(factory: MetricsRegistry()), log: log)
    }

    /// Runs the lane until a condition is true.
    func run(until condition: () -> Bool) throws {
        simulation.spawn(on: loop) { [lane] in try? await lane.run() }
        try simulation.run(for: .seconds(600), while: { !condition() })
    }

    /// Drains the lane, and runs until nothing is left to do.
    func end() throws {
        simulation.spawn(on: loop) { [lane] in await lane.drain() }
        try simulation.run()
        // A loop that has not ended is never freed, with everything that it retains.
        loop.eventLoop.stop()
        try simulation.run()
    }
}

/// A consumer of one partition.
actor HarnessSource: RequestSource {
    private static let partition = AssignedPartition(TopicPartition("location-search.requests", 0), epoch: 1)

    private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    private let count: Int
    private var next = 0
    private var isReading = true
    private var isHeld = false
    private var reader: CheckedContinuation<Void, Never>?

    init(count: Int, on loop: EventLoop) { (self.count, self.loop) = (count, loop) }

    func subscribe(to topics: [String], listener: any RebalanceListener) async throws(KafkaError) {
        await listener.assigned([Self.partition])
    }

    func records(max: Int) async throws(KafkaError) -> [ConsumerRecord] {
        while isReading, isHeld || next == count { await suspend(unless: !isReading) { reader = $0 } }
        await loop.pause(.microseconds(500))

        let end = min(count, next + min(max, 10))
        defer { next = end }
        return (next..<end).map { offset in
            let request = SearchRequest(
                requestID: "r\(offset)", location: Coordinate(latitude: 35 + Double(offset) / 1000, longitude: 139))
            var encoder = RequestEncoder()
            let event = encoder.encode(request, at: loop.wallNow)
            return ConsumerRecord(
                partition: Self.partition, offset: Int64(offset), timestamp: loop.wallNow.milliseconds,
                key: event.key, value: event.value, headers: event.headers)
        }
    }

    func commitOnCrash(_ commit: (partition: AssignedPartition, next: CommittedOffset)?) {}

    var refusedCommits: [AssignedPartition: KafkaError] { [:] }

    func stopReading() async {
        isReading = false
        wakeReader()
    }

    private func wakeReader() {
        reader?.resume()
        reader = nil
    }

    func hold(_ partition: AssignedPartition) { isHeld = true }

    func resume(_ partition: AssignedPartition) {
        isHeld = false
        wakeReader()
    }

    func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) async {}
    func commit(within bound: Duration) async throws(KafkaError) -> [AssignedPartition: Int64] { [:] }
    func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) async {}
    func committedOffsets(
        of assigned: [AssignedPartition], within bound: Duration
    ) async throws(KafkaError) -> [AssignedPartition: CommittedOffset] { [:] }

    var membership: GroupMembership? { GroupMembership() }
    var positions: [KafkaConsumer.Position] { [] }
    var brokersAreDown: Bool { false }
    var groupRefusal: String? { nil }
    nonisolated var statistics: ClientStatistics? { nil }
    nonisolated var failure: KafkaError? { nil }
    func diagnosis(of topic: String) -> TopicDiagnosis { .complete }
    func partitionCount(of topic: String) async -> Int? { 1 }
    func existingTopics() async -> Set<String>? { nil }
    func close(within bound: Duration) async {}
}

/// A producer whose records are confirmed after 1 to 20 ms.
final class HarnessSink: OutcomeSink {
    /// An end of a transaction.
    enum End: CaseIterable {
        case commit
        case abort
    }

    private let loop: EventLoop
    private let silence: End?
    private let confirmedCount = Atomic(0)
    private let transactionTimes = Mutex((begins: [Instant](), commits: [Instant]()))

    init(on loop: EventLoop, silence: End? = nil) {
        self.loop = loop
        self.silence = silence
    }

    /// The times at which transactions began, and those at which they were committed.
    var transactions: (begins: [Instant], commits: [Instant]) { transactionTimes.withLock { $0 } }

    var confirmed: Int { confirmedCount.load(ordering: .relaxed) }

    private func confirm() -> RecordPosition {
        let offset = confirmedCount.add(1, ordering: .relaxed).oldValue
        return RecordPosition(partition: 0, offset: Int64(offset))
    }

    private var delay: Duration {
        var random = loop.random
        return .microseconds(Int64.random(in: 1000...20_000, using: &random))
    }

    func start() async {}
    func handOverAtOnce(_ record: ProducerRecord, report: @escaping (KafkaProducer.Report) -> Void) -> Bool {
        loop.schedule(at: loop.now + delay) { report(.success(self.confirm())) }
        return true
    }
    func handOver(_ record: ProducerRecord) async throws(KafkaError) -> KafkaProducer.Receipt { .init(slot: 0) }
    func confirm(_ receipt: KafkaProducer.Receipt) async throws(KafkaError) -> RecordPosition { confirm() }

    var undelivered: Int { 0 }
    var statistics: ClientStatistics? { nil }
    func flush(within bound: Duration) async -> Bool {
        await loop.pause(delay)
        return true
    }
    func close() async {}
    func initTransactions() async throws(KafkaError) { await loop.pause(delay) }
    func beginTransaction() async throws(KafkaError) { transactionTimes.withLock { $0.begins.append(loop.now) } }
    func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as member: GroupMembership
    ) async throws(KafkaError) { await loop.pause(delay) }
    func commitTransaction() async throws(KafkaError) {
        if silence == .abort { throw KafkaError(.abortable, "commit: made to fail") }
        if silence == .commit { try await waitInVain() }
        await loop.pause(delay)
        transactionTimes.withLock { $0.commits.append(loop.now) }
    }
    func abortTransaction() async throws(KafkaError) {
        if silence == .abort { try await waitInVain() }
    }

    /// Behaves as `KafkaProducer` after a retriable timeout of librdkafka.
    private func waitInVain() async throws(KafkaError) {
        await loop.pause(.seconds(10))
        throw KafkaError(.retriable, "timed out")
    }
    func endTransactions(by instant: Instant) async {}
}

/// A provider that answers after 1 to 60 ms.
final class HarnessProvider: PlaceService {
    private struct Call: Cancellable {
        func cancel() {}
    }
    private let loop: EventLoop
    private let count = Atomic(0)

    init(on loop: EventLoop) { self.loop = loop }

    var calls: Int { count.load(ordering: .relaxed) }

    var id: ProviderID { .hotpepper }
    func refusal(of request: SearchRequest) -> SearchError? { nil }
    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { .hotpepper }

    func begin(
        _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        count.add(1, ordering: .relaxed)
        var random = loop.random
        let time = Duration.microseconds(Int64.random(in: 1000...60_000, using: &random))
        loop.schedule(at: loop.now + time) { end(.success(.answer(ProviderAnswer()))) }
        return Call()
    }
}
