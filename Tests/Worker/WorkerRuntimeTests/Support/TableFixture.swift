import EventLoop
import Kafka
import Logging
import Observability
import TestSupport
import Testing

@testable import WorkerRuntime

/// A table on a separate loop, with a source that reports which partitions are paused.
actor TableFixture {
    let maxSpan: Int
    let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    let source = FakeSource()
    let gate: IntakeGate
    let table: PartitionTable
    private let registry = MetricsRegistry()
    private(set) var hasWaited = false

    /// Runs `body` on the loop of a fixture.
    static func run(
        ordering: WorkerConfiguration.Ordering = .unordered, doneSetBytes: Int = 0,
        _ body: (isolated TableFixture) async throws -> Void
    ) async throws {
        let fixture = try TableFixture(ordering: ordering, doneSetBytes: doneSetBytes)
        defer { fixture.loop.stop() }
        try await body(fixture)
    }

    private init(ordering: WorkerConfiguration.Ordering, doneSetBytes: Int) throws {
        var configuration = WorkerConfiguration()
        configuration.ordering = ordering
        // With done-sets, a partition waits only after a million records.
        configuration.doneSetBytes = doneSetBytes
        maxSpan = configuration.maxSpan
        loop = try EventLoop()
        gate = IntakeGate(configuration.intakeLimits, loop: loop)
        table = PartitionTable(
            source: source, gate: gate, configuration: configuration,
            meters: WorkerMeters(topics: configuration.topics, group: "workers", factory: registry), loop: loop,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    var assignedPartitions: Double? {
        PrometheusDocument(registry.prometheusText).value("locsearch_partitions_assigned")
    }

    func take(
        _ offset: Int64, of partition: AssignedPartition = AssignedPartition(TopicPartition("requests", 0), epoch: 1),
        key: String? = nil
    ) -> RequestInProgress? {
        let record = ConsumerRecord(partition: partition, offset: offset, key: key.map { Array($0.utf8) })
        guard let owned = table.owner(of: record) else { return nil }
        return table.take(record, of: owned, at: RecordArrival(instant: loop.now, time: .now()))
    }

    /// Assigns the first partition and takes records of it.
    func takeAll(_ offsets: Range<Int64>) throws -> [RequestInProgress] {
        table.add([AssignedPartition(TopicPartition("requests", 0), epoch: 1)])
        let requests = offsets.compactMap { take($0) }
        try #require(requests.count == offsets.count)
        return requests
    }

    /// Starts to wait for the requests of all partitions, and returns once the wait has begun.
    func startWaiting(for time: Duration) -> Task<Void, Never> {
        let (partitions, end) = (table.all, loop.now + time)
        return Task.immediate(executorPreference: loop) {
            await table.waitUntilIdle(partitions, before: end)
            hasWaited = true
        }
    }
}

extension OffsetTracker.Beginning {
    /// The slot of a record to be run.
    var slot: OffsetTracker.Slot? {
        if case .run(let slot) = self { slot } else { nil }
    }
}

extension OwnedPartition {
    /// Makes a partition with a limit on the metadata of its commits, in bytes.
    convenience init(_ id: AssignedPartition, doneSetBytes: Int) {
        self.init(
            id, metadataLimit: MetadataLimit(doneSetBytes, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        )
    }
}
