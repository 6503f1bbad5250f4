internal import Basics
import EventContract
import EventLoop
import Kafka
import Logging
import Observability
import ProviderCalls
import Synchronization
import WorkerRuntime

/// A whole request: through a lane, its worker and its service, between a consumer, a provider and a producer that are not
/// there.
enum LaneBenchmark {
    /// Runs so many requests, each answered with one place.
    static func run(_ count: Int, on loop: EventLoop) async throws {
        var configuration = WorkerConfiguration()
        configuration.shutdownGrace = .seconds(60)
        configuration.requestSteps = true
        let worker = SearchWorker(
            executor: loop, concurrency: configuration.concurrency, clock: LoopClock(loop),
            timekeeper: LoopTimekeeper(loop), taskExecutor: loop, random: loop.random)
        let service = ProviderBenchmark.hotpepper(answering: Samples.answer(shops: 1))
        let sink = BenchmarkSink(awaiting: count, on: loop)
        var log = Logger(label: "benchmark")
        log.logLevel = .error

        let lane = WorkerLane(
            loop: loop, configuration: configuration, source: BenchmarkSource(count: count, loop: loop), sink: sink,
            interactor: SearchInteractor(selection: ProviderSelection(services: [service]), worker: worker),
            meters: WorkerMeters(factory: MetricsRegistry()), log: log)
        let running = Task(executorPreference: loop) { try await lane.run() }
        await sink.waitForAll()
        await lane.drain()
        try await running.value
    }
}

/// A consumer of one partition, which holds the same request over and over.
private actor BenchmarkSource: RequestSource {
    private static let partition = AssignedPartition(TopicPartition("location-search.requests", 3), epoch: 1)

    private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    private let count: Int
    private var next = 0
    private var isReading = true
    /// The reader that waits for more than there is.
    private var reader: CheckedContinuation<Void, Never>?

    init(count: Int, loop: EventLoop) {
        self.count = count
        self.loop = loop
    }

    func subscribe(to topics: [String], listener: any RebalanceListener) async throws(KafkaError) {
        await listener.assigned([Self.partition])
    }

    func records(max: Int) async throws(KafkaError) -> [ConsumerRecord] {
        if next == count { await suspend(unless: !isReading) { reader = $0 } }
        let end = min(count, next + max)
        defer { next = end }
        return (next..<end).map { offset in
            ConsumerRecord(
                partition: Self.partition, offset: Int64(offset), timestamp: 1_790_000_000_000,
                key: Samples.request.key, value: Samples.request.value, headers: Samples.request.headers)
        }
    }

    func stopReading() async {
        isReading = false
        reader?.resume()
        reader = nil
    }

    func hold(_ partition: AssignedPartition) async {}
    func resume(_ partition: AssignedPartition) async {}
    func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) async {}
    func commit(within bound: Duration) async throws(KafkaError) -> [AssignedPartition: Int64] { [:] }
    func commitOnCrash(_ commit: (partition: AssignedPartition, next: CommittedOffset)?) async {}
    var refusedCommits: [AssignedPartition: KafkaError] { [:] }
    func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) async {}
    func committedOffsets(
        of assigned: [AssignedPartition], within bound: Duration
    ) async throws(KafkaError) -> [AssignedPartition: CommittedOffset] { [:] }

    var membership: GroupMembership? { nil }
    var positions: [KafkaConsumer.Position] { [] }
    var brokersAreDown: Bool { false }
    var groupRefusal: String? { nil }
    nonisolated var statistics: ClientStatistics? { nil }
    nonisolated var failure: KafkaError? { nil }
    func diagnosis(of topic: String) -> TopicDiagnosis { .complete }

    func partitionCount(of topic: String) async -> Int? { 1 }
    func close(within bound: Duration) async {}
}

/// A producer whose records are confirmed one turn of the loop later.
private final class BenchmarkSink: OutcomeSink {
    private struct State {
        var missing: Int
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state: Mutex<State>
    private let loop: EventLoop

    /// - Parameter count: the records that `waitForAll` waits for.
    init(awaiting count: Int, on loop: EventLoop) {
        state = Mutex(State(missing: count))
        self.loop = loop
    }

    func waitForAll() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.missing > 0 { state.waiter = continuation }
                return state.missing == 0
            }
            if isDone { continuation.resume() }
        }
    }

    func start() async {}

    func handOverAtOnce(_ record: ProducerRecord, report: @escaping (KafkaProducer.Report) -> Void) -> Bool {
        loop.schedule(at: .now) { [self] in report(.success(confirmNext())) }
        return true
    }

    func handOver(_ record: ProducerRecord) async throws(KafkaError) -> KafkaProducer.Receipt {
        KafkaProducer.Receipt(slot: 0)
    }

    func confirm(_ receipt: KafkaProducer.Receipt) async throws(KafkaError) -> RecordPosition {
        await Task.yield()
        return confirmNext()
    }

    private func confirmNext() -> RecordPosition {
        let (offset, waiter) = state.withLock { state in
            state.missing -= 1
            return (state.missing, state.missing == 0 ? state.waiter.take() : nil)
        }
        waiter?.resume()
        return RecordPosition(partition: 0, offset: Int64(offset))
    }

    var undelivered: Int { 0 }
    var undeliveredBytes: Int { 0 }
    var statistics: ClientStatistics? { nil }
    func flush(within bound: Duration) async -> Bool { true }
    func close() async {}
    func initTransactions() async throws(KafkaError) {}
    func beginTransaction() async throws(KafkaError) {}
    func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as member: GroupMembership
    ) async throws(KafkaError) {}
    func commitTransaction() async throws(KafkaError) {}
    func abortTransaction() async throws(KafkaError) {}
    func endTransactions(by instant: Instant) async {}
}
