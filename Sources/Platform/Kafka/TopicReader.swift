internal import Basics
public import Logging

/// Reads topics without joining a group: for tools that show what is there, or what goes by. Commits nothing.
///
/// Every call waits on a thread of its own, never on the caller's. Call from any thread, one call after another.
public final class TopicReader: Sendable {
    /// The record to begin with in every partition.
    public enum Start: Sendable, Hashable {
        /// Begins with the oldest record there is.
        case beginning
        /// Begins with the first record after `open` has returned.
        case end
        /// Begins with so many of the newest records, or all where there are fewer. At least 1.
        case newest(Int64)
    }

    /// A reader's way with records that it cannot have.
    public enum Mode: Sendable, Hashable {
        /// Reads what is committed and still there. Where the next record has just been deleted, reading goes on with the oldest
        /// that is left.
        case whatIsThere
        /// Reads each record in its order, also those of transactions that are open or aborted. Where the next one has been
        /// deleted, or the topic ends before it, `news` throws `recordsMissing`.
        case everyRecord
    }

    /// The records and ends that were read since the last call.
    public struct News: Sendable {
        public var records: [ConsumerRecord] = []
        /// The partitions that are read to the end that they have now, each with one past its last offset. The last offsets may
        /// hold no record.
        public var ends: [TopicPartition: Int64] = [:]

        public init(records: [ConsumerRecord] = [], ends: [TopicPartition: Int64] = [:]) {
            self.records = records
            self.ends = ends
        }
    }

    private let handle: TopicReaderHandle
    private let blocking = BlockingThread("topic-reader")

    /// - Parameter configuration: the group's name is not used; nothing is asked of the group.
    /// - Throws: `configuration` that names the property.
    public init(
        _ configuration: ConsumerConfiguration, mode: Mode = .whatIsThere, log: Logger
    ) throws(KafkaError) {
        var configuration = configuration
        configuration.groupInstanceID = nil
        handle = try TopicReaderHandle(configuration, needsEveryRecord: mode == .everyRecord, log: log)
    }

    // MARK: - What is there

    /// Returns where each partition of a topic begins and ends now: its oldest offset, and one past its newest.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`; never a part of the answer.
    public func bounds(
        of topic: String, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        let (handle, deadline) = (handle, SystemClock.now + bound)
        return try await wait { () throws(KafkaError) in
            let partitions = try handle.partitions(of: topic, before: deadline)
            let oldest = try handle.offsets(at: .oldest, of: partitions, before: deadline)
            let ends = try handle.offsets(at: .end, of: partitions, before: deadline)

            return ends.reduce(into: [:]) { bounds, end in
                let first = min(oldest[end.key] ?? 0, end.value)
                bounds[end.key] = first..<end.value
            }
        }
    }

    /// Returns where each partition of a topic ends now: one past its newest offset.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`; never a part of the answer.
    public func ends(of topic: String, within bound: Duration) async throws(KafkaError) -> [TopicPartition: Int64] {
        let (handle, deadline) = (handle, SystemClock.now + bound)
        return try await wait { () throws(KafkaError) in
            let partitions = try handle.partitions(of: topic, before: deadline)
            return try handle.offsets(at: .end, of: partitions, before: deadline)
        }
    }

    /// Hands over every record from `starts` on and below `ends`, oldest first within each partition, and returns once all
    /// are read.
    ///
    /// The broker's own answer ends a partition: its last record, or the answer that nothing stands behind. A broker that
    /// says nothing is waited for, then an error.
    /// - Parameter starts: where to begin; a partition without a start, and one whose start is deleted by now, begins with its
    ///   oldest record.
    /// - Parameter ends: where each partition ends, as `ends(of:within:)` told.
    /// - Parameter timeout: how long the broker may say nothing.
    /// - Parameter body: returns `false` to end before that.
    /// - Throws: `timedOut` when the broker says nothing for so long, `CancellationError`, and what `body` throws.
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
        let first = open.min().map { ", \($0) among them" } ?? ""
        return KafkaError(
            .timedOut,
            "the broker said nothing for \(timeout), with \(open.count) of \(count) partitions not read to their ends"
                + first)
    }

    // MARK: - What goes by

    /// Looks the topics' partitions up and begins to read them.
    /// - Parameter bound: for the broker's answers. Topics that do not exist are made by brokers that make topics.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`.
    public func open(_ topics: [String], at start: Start, within bound: Duration) async throws(KafkaError) {
        let (handle, deadline) = (handle, SystemClock.now + bound)
        try await wait { () throws(KafkaError) in
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
                    // An offset that the topic has deleted is the oldest that is left.
                    positions += ends.map { ($0.key, offset: max(0, $0.value - count)) }
                }
            }
            try handle.assign(positions)
        }
    }

    /// Begins to read each partition at an offset that is there, in place of any others.
    public func open(_ starts: [TopicPartition: Int64]) async throws(KafkaError) {
        try await assign(starts.map { ($0.key, offset: $0.value) })
    }

    /// Returns what is there as soon as one record is, at most `max`.
    /// - Returns: empty when the time was up. That does not tell that nothing is there: see `read(from:upTo:timeout:body:)`.
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

    /// Returns what is there as soon as something is, at most `max` records; empty when the time was up.
    /// - Throws: `recordsMissing` as the reader's mode says, `unknownTopicOrPartition` when the topic was deleted.
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

    // MARK: - The thread that waits

    private func assign(_ positions: [(TopicPartition, offset: Int64)]) async throws(KafkaError) {
        let handle = handle
        try await wait { () throws(KafkaError) in try handle.assign(positions) }
    }

    /// Returns what is there as soon as one event is, at most `max`; empty when the time was up.
    private func events(max: Int, within bound: Duration) async throws(KafkaError) -> [TopicReaderHandle.Event] {
        let (handle, deadline) = (handle, SystemClock.now + bound)
        return try await wait { () throws(KafkaError) in
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

    /// Runs a call that holds its thread on the thread that is ours for this.
    private func wait<Value: Sendable>(
        _ body: @escaping @Sendable () throws(KafkaError) -> Value
    ) async throws(KafkaError) -> Value {
        let result: Result<Value, KafkaError> = await blocking.run {
            do throws(KafkaError) { return .success(try body()) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
