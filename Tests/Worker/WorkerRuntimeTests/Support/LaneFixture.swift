import EventLoop
import Kafka
import Logging
import Observability
import TestSupport
import Testing

@testable import LocationSearch
@testable import ProviderCalls
@testable import QuotaSharing
@testable import WorkerRuntime

/// A whole lane with a source and a sink without brokers, and a provider controlled by the test.
struct LaneFixture: Sendable {
    let loop: EventLoop
    let lane: WorkerLane
    let source: FakeSource
    let sink: FakeSink
    let provider: FakeProvider
    /// Replaces the first sink after a permanent failure, and itself if it fails.
    let nextSink: FakeSink
    /// Sends each record in a separate batch.
    let singleSink = FakeSink(isBatching: false)
    /// The lane's metrics.
    let registry = MetricsRegistry()

    /// Makes the sinks that replace the first one, if `nextSink` is not enough.
    struct Replacements: Sendable {
        let make: @Sendable () -> FakeSink
    }

    /// Runs a lane during `body`, then drains it and waits for its end.
    static func run(
        delivery: WorkerConfiguration.Delivery = .atLeastOnce, calls: (any CallQueues & Sendable)? = nil,
        fleet: (any FleetMember & Sendable)? = nil, tracing: RequestTracing? = nil, assigned: [Int32] = [0],
        replacements: Replacements? = nil, exclusiveLock: ExclusiveLock = ExclusiveLock(),
        _ change: (inout WorkerConfiguration) -> Void = { _ in }, _ body: (LaneFixture) async throws -> Void
    ) async throws {
        let fixture = try LaneFixture(
            delivery: delivery, calls: calls, fleet: fleet, tracing: tracing, replacements: replacements,
            exclusiveLock: exclusiveLock, change)
        defer { fixture.loop.stop() }
        let running = Task { try await fixture.lane.run() }

        let result: Result<Void, any Error>
        do {
            try await eventually("the lane joins") { await fixture.source.isSubscribed }
            await fixture.source.countOffsets { await fixture.transactionOffsets }
            await fixture.source.assign(assigned)
            try await body(fixture)
            result = .success(())
        } catch {
            result = .failure(error)
        }

        await fixture.provider.releaseAll()
        await fixture.lane.drain()
        let end = await running.result
        if case .failure(let error) = end { throw error }
        try result.get()
    }

    init(
        delivery: WorkerConfiguration.Delivery, calls: (any CallQueues & Sendable)? = nil,
        fleet: (any FleetMember & Sendable)? = nil,
        tracing: RequestTracing? = nil, replacements: Replacements? = nil,
        exclusiveLock: ExclusiveLock = ExclusiveLock(),
        _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = WorkerConfiguration()
        configuration.topics.requests = "requests"
        configuration.topics.results = "results"
        configuration.topics.errors = "errors"
        configuration.topics.deadLetters = "dead-letters"
        configuration.delivery = delivery
        configuration.commitInterval = .milliseconds(50)
        configuration.shutdownGrace = .seconds(20)
        change(&configuration)

        loop = try EventLoop()
        source = FakeSource()
        sink = FakeSink(isTransactional: delivery == .exactlyOnce)
        nextSink = FakeSink(isTransactional: delivery == .exactlyOnce, staysOpen: true)
        provider = FakeProvider(on: loop)
        lane = WorkerLane(
            loop: loop, configuration: configuration, source: source, sink: sink,
            makeSink: { @Sendable [nextSink] () throws(KafkaError) in replacements?.make() ?? nextSink },
            makeSingleSink: { @Sendable [singleSink] () throws(KafkaError) in singleSink },
            providers: LaneProviders(
                interactor: SearchInteractor(
                    selection: ProviderSelection(services: [IdleService()]), worker: provider),
                calls: calls, fleet: fleet),
            exclusiveLock: exclusiveLock,
            meters: WorkerMeters(topics: configuration.topics, group: "workers", factory: registry),
            tracing: tracing,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    static func request(_ id: String) -> String {
        #"{"requestId":"\#(id)","provider":"hotpepper","location":{"latitude":35.69,"longitude":139.7}}"#
    }

    /// Makes all sinks reject records.
    func refuse(_ refusal: @escaping @Sendable (ProducerRecord, _ company: Int) -> KafkaError?) async {
        for sink in [sink, nextSink, singleSink] { await sink.refuse(refusal) }
    }

    var metrics: PrometheusDocument { PrometheusDocument(registry.prometheusText) }

    /// The offsets that transactions have committed.
    var transactionOffsets: [TopicPartition: CommittedOffset] {
        get async { await sink.transactionOffsets.merging(nextSink.transactionOffsets) { _, later in later } }
    }

    /// The number of records that were enqueued in any sink.
    var handedOver: Int {
        get async { await sink.handedOver.count + nextSink.handedOver.count + singleSink.handedOver.count }
    }

    func count(of topic: String) async -> Int { await written.count { $0.topic == topic } }

    /// Every record that a sink has written.
    var written: [ProducerRecord] {
        get async { await sink.written + nextSink.written + singleSink.written }
    }

    /// Runs a first request, with the lane's first crash note: the following requests need no commit to begin.
    func commitsFirstRequest() async throws {
        await source.append([Self.request("first")])
        try await isCommitted(upTo: 1)
    }

    /// Waits until the requests' outcomes are confirmed.
    func outcomesAreWritten(_ ids: [String]) async throws {
        try await eventually("outcomes of \(ids)") {
            let texts = await written.map(\.text)
            return ids.allSatisfy { id in texts.contains { $0.contains("\"\(id)\"") } }
        }
    }

    /// Waits until a request has an outcome that contains some texts.
    func outcome(of id: String, contains texts: String...) async throws {
        try await eventually("an outcome of \(id) with \(texts)") {
            await written.map(\.text).contains { text in
                text.contains("\"\(id)\"") && texts.allSatisfy { text.contains($0) }
            }
        }
    }

    /// Waits until `count` requests that were read have not begun.
    func waits(count: Int) async throws {
        try await eventually("\(count) requests wait") {
            await lane.status.waiting.reduce(0) { $0 + $1.count } == count
        }
    }

    func isCommitted(upTo offset: Int64, partition: Int32 = 0) async throws {
        try await eventually("offset \(offset) of partition \(partition) is committed") {
            await source.committed[TopicPartition("requests", partition)] == offset
        }
    }
}

/// Refers to a partition without keeping it in memory.
struct WeakPartition: @unchecked Sendable {
    // Safe, because tests only ask whether the partition exists.
    private weak var partition: OwnedPartition?

    init(_ partition: OwnedPartition) { self.partition = partition }

    var exists: Bool { partition != nil }
}

extension WorkerLane {
    func weakPartition(_ id: TopicPartition) -> WeakPartition? { partitions[id].map(WeakPartition.init) }
}

/// Answers every request with no places, at once or when the test releases it.
actor FakeProvider: SearchExecutor {
    private nonisolated let loop: EventLoop
    private var isHolding = false
    private var heldID: String?
    private var heldPrefix: String?
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// The requests in the order of their searches. Each may have cost money.
    private(set) var asked: [String] = []

    /// True while exactly one request waits for the test, and it is the last one.
    func waitsAlone(_ id: String) -> Bool { asked.last == id && waiters.count == 1 }

    func hold() { isHolding = true }

    /// Keeps one request waiting, and answers all others.
    func hold(only id: String) { heldID = id }

    /// Keeps requests waiting whose ids have this prefix, and answers all others.
    func hold(prefix: String) { heldPrefix = prefix }

    func release(_ count: Int) {
        for _ in 0..<min(count, waiters.count) { waiters.removeFirst().resume() }
    }

    func releaseAll() {
        isHolding = false
        (heldID, heldPrefix) = (nil, nil)
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    private func isHeld(_ id: String) -> Bool {
        isHolding || heldID == id || heldPrefix.map(id.hasPrefix) ?? false
    }

    init(on loop: EventLoop) { self.loop = loop }

    nonisolated func begin(_ search: ProviderSearch) {
        nonisolated(unsafe) let search = search  // The task runs on the lane's loop, where the search belongs.
        Task(executorPreference: loop) {
            await self.call(for: unsafe search.request.requestID, in: unsafe search.context)
            unsafe search.takeCandidate(at: .now)
            unsafe search.cost = CallCost(attempts: 1, upstream: .milliseconds(7))
            unsafe search.end(with: .success(ProviderAnswer()))
        }
    }

    nonisolated func cancel(_ search: ProviderSearch) {}

    private func call(for id: String, in context: RequestContext?) async {
        asked.append(id)
        context?.noteCall(at: .now)
        if isHeld(id) { await withCheckedContinuation { waiters.append($0) } }
    }
}

/// Stands for a configured provider; `FakeProvider` answers in its place.
private struct IdleService: PlaceService {
    var id: ProviderID { .hotpepper }

    func refusal(of request: SearchRequest) -> SearchError? { nil }

    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { .hotpepper }

    func begin(
        _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        end(.success(.answer(ProviderAnswer())))
        return nil
    }
}
