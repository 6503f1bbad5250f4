internal import Basics
import EventContract
import Kafka
import Logging
import WorkerRuntime

/// Reads the dead-letter topic as it stands: from its oldest record up to what was its end when reading began. It has one
/// client; make one call after another.
struct DeadLetterTopic {
    /// The dead letters that match a filter, and where the topic ended when they were read.
    struct Snapshot: Sendable {
        /// Oldest first: see `DeadLetterSummary.isOlder`.
        let letters: [DeadLetterSummary]
        /// True when older records were left out, so that a letter may seem to wait although it went back.
        let isPartial: Bool
        /// The number of records that were read.
        let records: Int
        fileprivate let ends: [TopicPartition: Int64]

        var version: String { DeadLetterTopic.version(ends) }

        /// True when the positions of an earlier version still name the same records: no partition ends before it did then, as in
        /// a topic that was deleted and made anew.
        func continues(_ version: String) -> Bool {
            let entries = version.split(separator: ",").map { $0.split(separator: ":") }
            return entries.allSatisfy { entry in
                guard entry.count == 2, let partition = Int32(entry[0]), let end = Int64(entry[1]) else { return false }
                return ends.contains { $0.key.partition == partition && $0.value >= end }
            }
        }
    }

    /// How much of the topic a reader wants.
    struct Extent: Sendable {
        /// The most records, the newest of each partition. `nil`: all.
        var records: Int?
        /// The longest time that reading may take.
        var time: Duration?
        /// The most bytes of values that are read. With more, fewer of the newest records are read. `nil`: all.
        var bytes: Int?
        /// The bytes of each key and value that a summary keeps.
        var headBytes = DeadLetterSummary.Head.mostBytes

        static let whole = Extent()
    }

    /// What reading has found.
    private struct Contents {
        var letters: [DeadLetterSummary] = []
        var marks: Set<RedriveMark> = []
        var records = 0

        func snapshot(isPartial: Bool, ends: [TopicPartition: Int64]) -> Snapshot {
            var letters = letters
            for index in letters.indices { letters[index].isRedriven = marks.contains(letters[index].mark) }
            letters.sort(by: DeadLetterSummary.isOlder)
            return Snapshot(letters: letters, isPartial: isPartial, records: records, ends: ends)
        }
    }

    let name: String
    private let configuration: ConsumerConfiguration
    private let timeout: Duration
    private let log: Logger
    private let judge: RequestJudge?
    private let reader: TopicReader

    /// - Parameters:
    ///   - timeout: how long the broker may say nothing before a call fails.
    ///   - judges: true where it matters which letters are still no request, which takes reading each as one.
    init(_ settings: Settings, timeout: Duration, judges: Bool = false, log: Logger) throws {
        name = settings.topics.deadLetters
        configuration = try settings.consumer().reconnectingSoon
        reader = try TopicReader(configuration, log: log)
        self.timeout = timeout
        self.log = log
        judge = judges ? RequestJudge(settings) : nil
    }

    /// Reads the whole topic once: the letters that match, and all marks of what went back, since a mark stands behind
    /// its letter and perhaps in another partition.
    /// - Parameter extent: how much is read; what does not fit into the time is an error.
    /// - Throws: `Failure` when the broker does not tell all that is there. A part of the extent is never returned.
    func snapshot(
        of extent: Extent = .whole, matching isWanted: (DeadLetter) -> Bool = { _ in true }
    ) async throws -> Snapshot {
        let bounds = try await bounds()
        let (starts, ends) = (Self.starts(of: bounds, extent: extent), bounds.mapValues(\.upperBound))
        let end = extent.time.map { Instant.now + $0 }
        var contents = Contents()
        var bytes = 0

        try await read(from: starts, upTo: ends) { record, headers in
            if let end, Instant.now > end {
                throw Failure(
                    "\(name): reading takes longer than \((extent.time ?? .zero).readable)", code: Failure.unreachable)
            }
            bytes = bytes.saturatingAdding(record.value?.count ?? 0)
            take(record, headers, into: &contents, headBytes: extent.headBytes) { isWanted($0) ? $0 : nil }
            return bytes <= extent.bytes ?? .max
        }
        if let most = extent.bytes, bytes > most, let records = extent.records, records > 1 {
            var smaller = extent
            smaller.records = records / 8
            return try await self.snapshot(of: smaller, matching: isWanted)
        }
        return contents.snapshot(isPartial: !starts.isEmpty, ends: ends)
    }

    /// Reads chosen letters, each with its new value where it has one, and whether it went back before.
    ///
    /// A mark is in the partition of its letter, behind it.
    func snapshot(of chosen: [RedriveMark: [UInt8]?]) async throws -> Snapshot {
        let bounds = try await bounds()
        let ends = bounds.mapValues(\.upperBound)
        let held = chosen.keys.filter { bounds[TopicPartition(name, $0.partition)]?.contains($0.offset) ?? false }
        let starts = Dictionary(held.map { (TopicPartition(name, $0.partition), $0.offset) }, uniquingKeysWith: min)
        var contents = Contents()

        try await read(from: starts, upTo: ends.filter { starts[$0.key] != nil }) { record, headers in
            let value = chosen[Self.position(of: record)]
            take(record, headers, into: &contents) { letter in value.map { $0.map(letter.with) ?? letter } }
            return true
        }
        return contents.snapshot(isPartial: false, ends: ends)
    }

    /// Takes a mark, or a letter as `wanted` returns it.
    private func take(
        _ record: ConsumerRecord, _ headers: [EventHeader], into contents: inout Contents,
        headBytes: Int = DeadLetterSummary.Head.mostBytes, wanted: (DeadLetter) -> DeadLetter?
    ) {
        contents.records += 1  // bounded: a count of records that were read
        if let mark = RedriveMark(value: record.value, headers: headers) {
            contents.marks.insert(mark)
        } else if let letter = DeadLetter(key: record.key, value: record.value, headers: headers).flatMap(wanted) {
            let position = Self.position(of: record)
            contents.letters.append(DeadLetterSummary(letter, at: position, judge: judge, headBytes: headBytes))
        }
    }

    /// A text that differs from that of any other time at which the topic held more.
    private static func version(_ ends: [TopicPartition: Int64]) -> String {
        ends.sorted { $0.key < $1.key }.map { "\($0.key.partition):\($0.value)" }.joined(separator: ",")
    }

    /// Returns where to begin in those partitions of which not all is wanted.
    private static func starts(
        of bounds: [TopicPartition: Range<Int64>], extent: Extent
    ) -> [TopicPartition: Int64] {
        guard let records = extent.records else { return [:] }
        let most = Int64(max(1, records / max(bounds.count, 1)))
        return bounds.filter { $0.value.count > most }.mapValues { $0.upperBound - most }
    }

    /// Reads the topic once more and hands over those of a snapshot's letters that were chosen, each once, in the order
    /// in which each partition holds them.
    /// - Returns: the chosen letters that the topic has deleted since the snapshot.
    @discardableResult
    func forEach(
        _ chosen: [DeadLetterSummary], of snapshot: Snapshot, body: (DeadLetter, RedriveMark) async throws -> Void
    ) async throws -> Int {
        var left = Set(chosen.map(\.mark))
        if left.isEmpty { return 0 }

        let starts = Dictionary(left.map { (TopicPartition(name, $0.partition), $0.offset) }, uniquingKeysWith: min)
        try await read(from: starts, upTo: snapshot.ends.filter { starts[$0.key] != nil }) { record, headers in
            let mark = Self.position(of: record)
            // Removed before it is sent: a client that begins again where it was before reads records twice.
            guard left.remove(mark) != nil,
                let letter = DeadLetter(key: record.key, value: record.value, headers: headers)
            else { return true }

            try await body(letter, mark)
            return !left.isEmpty
        }
        return left.count
    }

    /// Reads one letter.
    /// - Returns: `nil` when there is none at that position, or none any more.
    func letter(at mark: RedriveMark) async throws -> DeadLetter? {
        let partition = TopicPartition(name, mark.partition)
        guard try await bounds()[partition]?.contains(mark.offset) ?? false else { return nil }

        var letter: DeadLetter?
        // bounded: the offset is below the partition's end
        try await read(from: [partition: mark.offset], upTo: [partition: mark.offset + 1]) { record, headers in
            letter = DeadLetter(key: record.key, value: record.value, headers: headers)
            return false
        }
        return letter
    }

    private static func position(of record: ConsumerRecord) -> RedriveMark {
        RedriveMark(partition: record.partition.id.partition, offset: record.offset)
    }

    // MARK: - Asking the broker

    private func bounds() async throws -> [TopicPartition: Range<Int64>] {
        try await asking { try await reader.bounds(of: name, within: timeout) }
    }

    private func read(
        from starts: [TopicPartition: Int64] = [:], upTo ends: [TopicPartition: Int64],
        body: (ConsumerRecord, [EventHeader]) async throws -> Bool
    ) async throws {
        try await asking {
            try await reader.read(from: starts, upTo: ends, timeout: timeout) { record in
                try await body(record, record.headers)
            }
        }
    }

    /// Says in one line which topic at which brokers could not be read.
    private func asking<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as KafkaError {
            throw Failure(error, doing: "\(name) at \(configuration.bootstrapServers) cannot be read")
        }
    }
}
