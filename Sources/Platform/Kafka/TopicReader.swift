internal import Basics
public import Logging

/// Reads topics without joining a group, for tools that show existing or new records. Commits nothing.
///
/// Every call waits on a dedicated thread, never on the caller's. Safe to call from any thread, one call after another.
public final class TopicReader: Sendable {
    /// Where reading begins in every partition.
    public enum Start: Sendable, Hashable {
        /// Begins at the oldest record.
        case beginning
        /// Begins at the first record written after `open` has returned.
        case end
        /// Begins with this many of the newest records, or with all if there are fewer. At least 1.
        case newest(Int64)
    }

    /// How a reader handles missing records.
    public enum Mode: Sendable, Hashable {
        /// Reads committed records that still exist. If the next record has just been deleted, reading continues at the
        /// oldest remaining one.
        case whatIsThere
        /// Reads every record in order, including those of open or aborted transactions. If the next record was
        /// deleted, or the topic ends before it, `news` throws `recordsMissing`.
        case everyRecord
    }

    /// The records and partition ends that were read since the last call.
    public struct News: Sendable {
        public var records: [ConsumerRecord] = []
        /// The partitions read to their current end, each with one past its last offset. The last offsets may hold no
        /// record.
        public var ends: [TopicPartition: Int64] = [:]

        public init(records: [ConsumerRecord] = [], ends: [TopicPartition: Int64] = [:]) {
            self.records = records
            self.ends = ends
        }
    }

    private let handle: TopicReaderHandle
    private let blocking = BlockingThread("topic-reader")

    /// - Parameter configuration: The group's name is not used; no request concerns the group.
    /// - Throws: `configuration` that names the property.
    public init(
        _ configuration: ConsumerConfiguration, mode: Mode = .whatIsThere, log: Logger
    ) throws(KafkaError) {
        var configuration = configuration
        configuration.groupInstanceID = nil
        handle = try TopicReaderHandle(configuration, needsEveryRecord: mode == .everyRecord, log: log)
    }

    // MARK: - Existing records

    /// Returns the current offset range of each partition of a topic: its oldest offset, and one past its newest.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`; never returns a partial
    ///   result.
    public func bounds(
        of topic: String, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        try await run(bound) { handle, deadline throws(KafkaError) in
            let partitions = try handle.partitions(of: topic, before: deadline)
            let oldest = try handle.offsets(at: .oldest, of: partitions, before: deadline)
            let ends = try handle.offsets(at: .end, of: partitions, before: deadline)

            return ends.reduce(into: [:]) { bounds, end in
                let first = min(oldest[end.key] ?? 0, end.value)
                bounds[end.key] = first..<end.value
            }
        }
    }

    /// Returns the current end of each partition of a topic: one past its newest offset.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`; never returns a partial
    ///   result.
    public func ends(of topic: String, within bound: Duration) async throws(KafkaError) -> [TopicPartition: Int64] {
        try await run(bound) { handle, deadline throws(KafkaError) in
            let partitions = try handle.partitions(of: topic, before: deadline)
            return try handle.offsets(at: .end, of: partitions, before: deadline)
        }
    }

    /// Passes every record from `starts` up to `ends` to `body`, oldest first within each partition. Returns once all
    /// are read.
    ///
    /// A partition is complete when its last record arrives, or the broker reports that nothing follows. If the broker
    /// sends nothing for `timeout`, the call throws.
    /// - Parameter starts: Where to begin. A partition begins at its oldest record if it has no start, or if its start
    ///   was deleted.
    /// - Parameter ends: Where each partition ends, as returned by `ends(of:within:)`.
    /// - Parameter timeout: The longest wait for the broker's next answer.
    /// - Parameter body: Returns `false` to stop early.
    /// - Throws: `timedOut` if the broker sends nothing for `timeout`, `CancellationError`, and the errors of `body`.
    public func read(
        from starts: [TopicPartition: Int64] = [:], upTo ends: [TopicPartition: Int64], timeout: Duration,
        body: (ConsumerRecord) async throws -> Bool
    ) async throws {
        var progress = ReadProgress(from: starts, upTo: ends)
        try await assign(ends.keys.map { ($0, offset: starts[$0] ?? TopicReaderHandle.beginning) })

        while !progress.isComplete {
            try Task.checkCancellation()
            let events = try await events(max: 500, within: timeout)
            if events.isEmpty { throw Self.silence(timeout, progress.open, of: ends.count) }

            for event in events {
                switch event {
                case .end(let partition, let offset): progress.reachEnd(at: offset, of: partition)
                case .record(let record):
                    guard progress.take(record.offset, of: record.partition.id) else { continue }
                    guard try await body(record) else { return }
                }
            }
        }
    }

    private static func silence(_ timeout: Duration, _ open: Set<TopicPartition>, of count: Int) -> KafkaError {
        let first = open.min().map { ", including \($0)" } ?? ""
        return KafkaError(
            .timedOut,
            "no broker answered for \(timeout); \(open.count) of \(count) partitions are not read to their ends"
                + first)
    }

    // MARK: - New records

    /// Looks up the partitions of the topics and begins to read them.
    /// - Parameter bound: The time for the broker's answers. Brokers that create topics automatically create missing
    ///   ones.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`.
    public func open(_ topics: [String], at start: Start, within bound: Duration) async throws(KafkaError) {
        try await run(bound) { handle, deadline throws(KafkaError) in
            var positions: [(TopicPartition, offset: Int64)] = []
            for topic in topics {
                let partitions = try handle.partitions(of: topic, before: deadline)
                switch start {
                case .beginning: positions += partitions.map { ($0, offset: TopicReaderHandle.beginning) }
                case .end:
                    let ends = try handle.offsets(at: .end, of: partitions, before: deadline)
                    positions += ends.map { ($0.key, offset: $0.value) }
                case .newest(let count):
                    let ends = try handle.offsets(at: .end, of: partitions, before: deadline)
                    // If that offset was deleted, reading begins at the oldest remaining one.
                    positions += ends.map { ($0.key, offset: max(0, $0.value - count)) }
                }
            }
            try handle.assign(positions)
        }
    }

    /// Begins to read each partition at an existing offset, replacing all other partitions.
    public func open(_ starts: [TopicPartition: Int64]) async throws(KafkaError) {
        try await assign(starts.map { ($0.key, offset: $0.value) })
    }

    /// Waits for at least one record, and returns up to `max`.
    /// - Returns: An empty array after `bound`. This does not prove that the topic is empty: see
    ///   `read(from:upTo:timeout:body:)`.
    public func records(max: Int, within bound: Duration) async throws(KafkaError) -> [ConsumerRecord] {
        let deadline = SystemClock.now + bound
        while true {
            let events = try await events(max: max, within: Swift.max(.zero, deadline - SystemClock.now))
            let records = events.compactMap { event in
                if case .record(let record) = event { record } else { nil }
            }
            if !records.isEmpty || SystemClock.now >= deadline { return records }
        }
    }

    /// Waits for at least one record or partition end, and returns up to `max` of them; empty after `bound`.
    /// - Throws: `recordsMissing` as defined by the reader's mode, `unknownTopicOrPartition` if the topic was deleted.
    public func news(max: Int, within bound: Duration) async throws(KafkaError) -> News {
        var news = News()
        for event in try await events(max: max, within: bound) {
            switch event {
            case .record(let record): news.records.append(record)
            case .end(let partition, let offset): news.ends[partition] = offset
            }
        }
        return news
    }

    // MARK: - The dedicated thread

    private func assign(_ positions: [(TopicPartition, offset: Int64)]) async throws(KafkaError) {
        try await run(.zero) { handle, _ throws(KafkaError) in try handle.assign(positions) }
    }

    /// Waits for at least one event, and returns up to `max`; empty after `bound`.
    private func events(max: Int, within bound: Duration) async throws(KafkaError) -> [TopicReaderHandle.Event] {
        try await run(bound) { handle, deadline throws(KafkaError) in
            var events: [TopicReaderHandle.Event] = []
            while events.count < max {
                let left = events.isEmpty ? deadline - SystemClock.now : .zero
                if let event = try handle.poll(for: left) {
                    events.append(event)
                } else if !events.isEmpty || SystemClock.now >= deadline {
                    break
                }
            }
            return events
        }
    }

    private func run<Value: Sendable>(
        _ bound: Duration,
        _ body: @escaping @Sendable (TopicReaderHandle, _ deadline: Instant) throws(KafkaError) -> Value
    ) async throws(KafkaError) -> Value {
        let (handle, deadline) = (handle, SystemClock.now + bound)
        return try await blocking.run { () throws(KafkaError) in try body(handle, deadline) }
    }
}

/// Tracks a reader's progress to end offsets taken at one moment.
struct ReadProgress {
    private let ends: [TopicPartition: Int64]
    /// The partitions not yet read to their ends.
    private(set) var open: Set<TopicPartition>

    /// - Parameter starts: The offset at which reading begins in each partition; 0 if it is missing.
    /// - Parameter ends: One past the newest offset of each partition at that moment.
    init(from starts: [TopicPartition: Int64] = [:], upTo ends: [TopicPartition: Int64]) {
        self.ends = ends
        open = Set(ends.filter { $0.value > starts[$0.key] ?? 0 }.keys)
    }

    /// True once all records before the ends were read.
    var isComplete: Bool { open.isEmpty }

    /// Records that a record was read.
    /// - Returns: Whether it lies before the partition's end. A later record does not count.
    mutating func take(_ offset: Int64, of partition: TopicPartition) -> Bool {
        guard let end = ends[partition] else { return false }

        if offset + 1 >= end { open.remove(partition) }
        return offset < end
    }

    /// Records that the partition has nothing at `offset` or after it. The last offsets of a partition may hold no
    /// record (aborted transactions, transaction markers), so a record alone cannot show that the end is reached.
    mutating func reachEnd(at offset: Int64, of partition: TopicPartition) {
        if let end = ends[partition], offset >= end { open.remove(partition) }
    }
}
