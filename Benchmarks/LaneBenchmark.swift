internal import Basics
import EventContract
import EventLoop
import Kafka
import LocationSearch
import Logging
import Observability
import ProviderCalls
import Resilience
import Synchronization
import WorkerRuntime

/// A whole request through a lane, its worker and its service. The consumer, provider and producer are stand-ins.
enum LaneBenchmark {
    /// How the requests are processed.
    enum Course {
        /// They begin as they are read: many identical searches of one session, of which the last one counts.
        case begin
        /// They begin as they are read: each in a different session and about a different place.
        case beginAndDiffer
        /// All wait, for 30,000 tenants, and are served one after another.
        case waitAndAreServed
        /// All wait. A newer search of the same session ends every second one, and the others are served.
        case waitAndAreSuperseded
        /// All wait until their partition is revoked and assigned to another member.
        case waitAndAreRevoked

        var waits: Bool { self != .begin && self != .beginAndDiffer }
    }

    /// Runs `count` requests, each answered with one place.
    static func run(_ count: Int, as course: Course = .begin, on loop: EventLoop) async throws {
        var configuration = WorkerConfiguration()
        configuration.shutdownGrace = .seconds(60)
        configuration.requestSteps = true
        if course.waits {
            configuration.flows.fairBy = .header(BenchmarkSource.tenantHeader)
            configuration.flows.lookAheadBytes = 1 << 40
            // Disables periodic commits: their number would depend on the speed of the machine.
            configuration.commitInterval = .seconds(3600)
        }
        let searches = SearchWorker(
            concurrency: configuration.concurrency, clock: LoopClock(loop), timekeeper: LoopTimekeeper(loop),
            random: loop.random)
        let service = ProviderBenchmark.hotpepper(answering: Samples.answer(shops: 1), on: loop)
        let sink = BenchmarkSink(awaiting: course == .waitAndAreRevoked ? 0 : count, on: loop)
        let source = BenchmarkSource(count: count, as: course, loop: loop)
        let lines = BenchmarkLines()
        var log = Logger(label: "benchmark")
        log.logLevel = .error

        let lane = WorkerLane(
            loop: loop, configuration: configuration, source: source, sink: sink,
            providers: LaneProviders(
                searches, selection: ProviderSelection(services: [service]), calls: course.waits ? lines : nil),
            meters: WorkerMeters(factory: MetricsRegistry()), log: log)
        let running = Task(executorPreference: loop) { try await lane.run() }
        if course.waits { await source.waitUntilAllAreRead() }
        if course == .waitAndAreRevoked { await lane.revoked([BenchmarkSource.partition]) } else { lines.open() }
        await sink.waitForAll()
        await lane.drain()
        try await running.value
    }
}

/// Provider queues that accept no call until they are opened.
private final class BenchmarkLines: CallQueues, Sendable {
    private let isOpen = Atomic<Bool>(false)
    private let wake = Mutex<(@Sendable () -> Void)?>(nil)

    func open() {
        isOpen.store(true, ordering: .releasing)
        wake.withLock { $0 }?()
    }

    func line(of request: SearchRequest, at service: any PlaceService) -> CallLine { CallLine(service.id) }

    func hasShortLine(for requestClass: RequestClass, in line: CallLine) -> Bool {
        isOpen.load(ordering: .acquiring)
    }

    func pace(of line: CallLine) -> Double? { nil }
    func noteWaiting(_ waiting: [CallLine: WaitingRequests]) {}
    func onShorterLine(_ wake: @escaping @Sendable () -> Void) { self.wake.withLock { $0 = wake } }
}

/// A consumer of one partition. It returns the same request over and over, or requests of many tenants and sessions.
private actor BenchmarkSource: RequestSource {
    static let partition = AssignedPartition(TopicPartition("location-search.requests", 3), epoch: 1)
    static let tenantHeader = "tenant"
    private static let tenants = 30_000

    private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    private let count: Int
    private let course: LaneBenchmark.Course
    private var next = 0
    private var isReading = true
    private var isHeld = false
    /// The suspended reader: all records are read, or the partition is paused.
    private var reader: CheckedContinuation<Void, Never>?
    private var allAreRead = false
    private var end: CheckedContinuation<Void, Never>?

    init(count: Int, as course: LaneBenchmark.Course, loop: EventLoop) {
        self.count = count
        self.course = course
        self.loop = loop
    }

    func subscribe(to topics: [String], listener: any RebalanceListener) async throws(KafkaError) {
        await listener.assigned([Self.partition])
    }

    func records(max: Int) async throws(KafkaError) -> [ConsumerRecord] {
        if next == count { noteAllAreRead() }
        while isReading, isHeld || next == count { await suspend(unless: !isReading) { reader = $0 } }
        let end = min(count, next + max)
        defer { next = end }
        return (next..<end).map { number in
            ConsumerRecord(
                partition: Self.partition, offset: Int64(number), timestamp: 1_790_000_000_000,
                key: Samples.request.key, value: value(number), headers: headers(number))
        }
    }

    private func value(_ number: Int) -> [UInt8]? {
        switch course {
        case .begin: Samples.request.value
        case .beginAndDiffer: Samples.value(session: number, place: number)
        case .waitAndAreSuperseded: Samples.value(session: number / 2)
        case .waitAndAreServed, .waitAndAreRevoked: Samples.value(session: number)
        }
    }

    private func headers(_ number: Int) -> [RecordHeader] {
        let headers = Samples.request.headers
        return course.waits ? headers + [RecordHeader(Self.tenantHeader, text: "\(number % Self.tenants)")] : headers
    }

    private func noteAllAreRead() {
        allAreRead = true
        end?.resume()
        end = nil
    }

    /// Returns when all records have been read.
    func waitUntilAllAreRead() async {
        if !allAreRead { await suspend(unless: allAreRead) { end = $0 } }
    }

    func stopReading() async {
        isReading = false
        wakeReader()
    }

    private func wakeReader() {
        reader?.resume()
        reader = nil
    }

    func hold(_ partition: AssignedPartition) async { isHeld = true }

    func resume(_ partition: AssignedPartition) async {
        isHeld = false
        wakeReader()
    }

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
    func existingTopics() async -> Set<String>? { nil }
    func close(within bound: Duration) async {}
}

/// A producer that reports each record as delivered in the event loop's next iteration.
private final class BenchmarkSink: OutcomeSink {
    private struct State {
        var missing: Int
        var waiter: CheckedContinuation<Void, Never>?
    }
    private let state: Mutex<State>
    private let loop: EventLoop

    /// - Parameter count: the number of records that `waitForAll` waits for.
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
