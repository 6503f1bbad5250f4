internal import Basics
public import Logging
internal import Synchronization

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
        /// deleted, or the topic ends before it, `news` throws `recordsMissing`. Brokers send each record at once,
        /// whatever `fetch.min.bytes` the user's properties set.
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

        var isEmpty: Bool { records.isEmpty && ends.isEmpty }
    }

    private let client: ClientHandle
    /// `nil` until the first `open` or `read`.
    private let reading = Mutex<TopicReading?>(nil)  // never held across a call into C

    /// - Parameter configuration: The group's name is not used; no request concerns the group.
    /// - Throws: `configuration` that names the property.
    public init(_ configuration: ConsumerConfiguration, mode: Mode = .whatIsThere, log: Logger) throws(KafkaError) {
        let own =
            mode == .everyRecord
            ? ["auto.offset.reset": "error", "isolation.level": "read_uncommitted", "fetch.min.bytes": "1"]
            : ["auto.offset.reset": "earliest"]
        client = try ClientHandle(toolFor: configuration, setting: own, log: log)
    }

    deinit {
        client.blocking.start { [last = reading.withLock { $0.take() }] in last?.end() }
        client.destroyLater()
    }

    // MARK: - Existing records

    /// Returns the current offset range of each partition of a topic: its oldest offset, and one past its newest.
    /// Retries until `bound`, because a topic that is being created has no leader yet.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`; never returns a partial
    ///   result.
    public func bounds(
        of topic: String, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        let deadline = SystemClock.now + bound
        while true {
            do throws(KafkaError) {
                let partitions = try await client.partitions(of: topic, within: deadline - SystemClock.now)
                return try await client.bounds(
                    of: partitions, within: max(.milliseconds(1), deadline - SystemClock.now))
            } catch {
                if error.kind == .authentication || error.isInvalidArgument { throw error }
                if SystemClock.now >= deadline { throw client.brokerFailures.explain(error) }
            }
            await client.blocking.pause(.milliseconds(100))
        }
    }

    /// Passes every record from `starts` up to `ends` to `body`, oldest first within each partition. Returns once all
    /// are read.
    ///
    /// A partition is complete when its last record arrives, or the broker reports that nothing follows. If the broker
    /// sends nothing for `timeout`, the call throws.
    /// - Parameter starts: Where to begin. A partition begins at its oldest record if it has no start, or if its start
    ///   was deleted.
    /// - Parameter ends: Where each partition ends, the upper bound of `bounds(of:within:)`.
    /// - Parameter timeout: The longest wait for the broker's next answer.
    /// - Parameter body: Returns `false` to stop early.
    /// - Throws: `timedOut` if the broker sends nothing for `timeout`, `CancellationError`, and the errors of `body`.
    public func read(
        from starts: [TopicPartition: Int64] = [:], upTo ends: [TopicPartition: Int64], timeout: Duration,
        body: (ConsumerRecord) async throws -> Bool
    ) async throws {
        var progress = ReadProgress(from: starts, upTo: ends)
        try await open(ends.reduce(into: [:]) { $0[$1.key] = starts[$1.key] ?? TopicReading.beginning })

        while !progress.isComplete {
            try Task.checkCancellation()
            let news = try await news(max: 500, within: timeout)
            if news.isEmpty { throw Self.silence(timeout, progress.open, of: ends.count) }

            for record in news.records where progress.take(record.offset, of: record.partition.id) {
                guard try await body(record) else { return }
            }
            for (partition, offset) in news.ends { progress.reachEnd(at: offset, of: partition) }
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

    /// Looks up the partitions of the topics and begins to read them, replacing all other partitions.
    /// - Parameter bound: The time for the broker's answers. Brokers that create topics automatically create missing
    ///   ones.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`.
    public func open(_ topics: [String], at start: Start, within bound: Duration) async throws(KafkaError) {
        let deadline = SystemClock.now + bound
        var starts: [TopicPartition: Int64] = [:]
        for topic in topics {
            for (partition, bounds) in try await self.bounds(of: topic, within: deadline - SystemClock.now) {
                starts[partition] =
                    switch start {
                    case .beginning: bounds.lowerBound
                    case .end: bounds.upperBound
                    case .newest(let count): max(bounds.lowerBound, bounds.upperBound - count)
                    }
            }
        }
        try await open(starts)
    }

    /// Begins to read each partition at an existing offset, replacing all other partitions.
    public func open(_ starts: [TopicPartition: Int64]) async throws(KafkaError) {
        try await client.blocking.run { [self] () throws(KafkaError) in
            reading.withLock { $0.take() }?.end()
            // Each reading has its own queue, so that records of the last one are never mistaken for records of this
            // one.
            let new = try TopicReading(starts, client: client)
            reading.withLock { $0 = new }
        }
    }

    /// Waits for at least one record, and returns up to `max`.
    /// - Returns: An empty array after `bound`. This does not prove that the topic is empty: see
    ///   `read(from:upTo:timeout:body:)`.
    public func records(max: Int, within bound: Duration) async throws(KafkaError) -> [ConsumerRecord] {
        let deadline = SystemClock.now + bound
        while true {
            let records = try await news(max: max, within: Swift.max(.zero, deadline - SystemClock.now)).records
            if !records.isEmpty || SystemClock.now >= deadline { return records }
        }
    }

    /// Waits for at least one record or partition end, and returns up to `max` of them; empty after `bound`.
    /// - Throws: `recordsMissing` as defined by the reader's mode, `unknownTopicOrPartition` if the topic was deleted.
    public func news(max: Int, within bound: Duration) async throws(KafkaError) -> News {
        let deadline = SystemClock.now + bound
        return try await client.blocking.run { [self] () throws(KafkaError) in
            guard let reading = reading.withLock({ $0 }) else { throw KafkaError(.closed, "no partition is read yet") }
            var news = News()
            var count = 0
            while count < max {
                let left = news.isEmpty ? deadline - SystemClock.now : .zero
                if try reading.poll(for: left, into: &news.records, &news.ends) {
                    count += 1
                } else if !news.isEmpty || SystemClock.now >= deadline {
                    break
                }
            }
            return news
        }
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
