import EventContract
import Kafka
import Logging
import WorkerRuntime

/// Reads the dead-letter topic, from its oldest record to its end at the time when reading began. All calls share one
/// Kafka client, so make one call at a time.
struct DeadLetterTopic {
    /// The dead letters that match a filter, and the ends of the partitions when they were read.
    struct Snapshot: Sendable {
        /// Sorted from oldest to newest: see `DeadLetterSummary.isOlder`.
        let letters: [DeadLetterSummary]
        /// True if older records were left out. Letters may then appear pending although they were redriven.
        let isPartial: Bool
        /// The number of records that were read.
        let records: Int
        fileprivate let ends: [TopicPartition: Int64]

        var version: String { DeadLetterTopic.version(ends) }

        /// Returns true if positions in an earlier version still name the same records. This requires that no partition
        /// ends earlier than it did then, as it would after the topic was deleted and created again.
        func continues(_ version: String) -> Bool {
            let entries = version.split(separator: ",").map { $0.split(separator: ":") }
            return entries.allSatisfy { entry in
                guard entry.count == 2, let partition = Int32(entry[0]), let end = Int64(entry[1]) else { return false }
                return ends.contains { $0.key.partition == partition && $0.value >= end }
            }
        }
    }

    /// Limits how much of the topic is read.
    struct Extent: Sendable {
        /// The maximum number of records, the newest of each partition. `nil`: all.
        var records: Int?
        /// The maximum time that reading may take.
        var time: Duration?
        /// The maximum number of value bytes. If there are more, fewer of the newest records are read. `nil`: no limit.
        var bytes: Int?
        /// The number of bytes of each key and value that a summary keeps.
        var headBytes = DeadLetterSummary.Head.mostBytes

        static let whole = Extent()
    }

    /// The records read so far.
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
    /// The beginning of the message of each `Failure`.
    private let failureText: String
    private let timeout: Duration
    private let judge: RequestJudge
    private let reader: TopicReader

    /// - Parameter timeout: how long a call waits for the broker before it fails.
    init(_ settings: Settings, timeout: Duration, log: Logger) throws {
        name = settings.topics.deadLetters
        failureText = "\(name) at \(settings.text("kafka.bootstrapServers")) cannot be read"
        reader = try TopicReader(try settings.consumer().reconnectingSoon, log: log)
        self.timeout = timeout
        judge = RequestJudge(settings)
    }

    /// Reads the extent once: the letters that match, and the marks of redriven letters. A mark comes after its letter,
    /// in the same partition.
    /// - Parameter extent: how much is read. Exceeding its time is an error.
    /// - Throws: `Failure` if the broker does not deliver everything in the extent. A part of the extent is never
    ///   returned.
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

    /// Reads the chosen letters, each with its new value if it has one, and whether it was redriven before.
    ///
    /// A mark is written to the partition of its letter, after the letter. So only the partitions of the chosen letters
    /// are read, each from its oldest chosen letter on.
    func snapshot(of chosen: [RedriveMark: [UInt8]?]) async throws -> Snapshot {
        let bounds = try await bounds()
        let ends = bounds.mapValues(\.upperBound)
        let existing = chosen.keys.filter { bounds[TopicPartition(name, $0.partition)]?.contains($0.offset) ?? false }
        let starts = Dictionary(existing.map { (TopicPartition(name, $0.partition), $0.offset) }, uniquingKeysWith: min)
        var contents = Contents()

        try await read(from: starts, upTo: ends.filter { starts[$0.key] != nil }) { record, headers in
            let value = chosen[Self.position(of: record)]
            take(record, headers, into: &contents) { letter in value.map { $0.map(letter.with) ?? letter } }
            return true
        }
        return contents.snapshot(isPartial: false, ends: ends)
    }

    /// Adds a record to the contents: a mark, or a letter in the form that `wanted` returns; `nil`: it is not added.
    private func take(
        _ record: ConsumerRecord, _ headers: [RecordHeader], into contents: inout Contents,
        headBytes: Int = DeadLetterSummary.Head.mostBytes, wanted: (DeadLetter) -> DeadLetter?
    ) {
        contents.records += 1  // bounded: a count of records read
        if let mark = RedriveMark(value: record.value, headers: headers) {
            contents.marks.insert(mark)
        } else if let letter = DeadLetter(key: record.key, value: record.value, headers: headers).flatMap(wanted) {
            let position = Self.position(of: record)
            contents.letters.append(DeadLetterSummary(letter, at: position, judge: judge, headBytes: headBytes))
        }
    }

    /// Returns a text that is different whenever the topic has grown.
    private static func version(_ ends: [TopicPartition: Int64]) -> String {
        ends.sorted { $0.key < $1.key }.map { "\($0.key.partition):\($0.value)" }.joined(separator: ",")
    }

    /// Returns the first offset for each partition that is not read completely.
    private static func starts(of bounds: [TopicPartition: Range<Int64>], extent: Extent) -> [TopicPartition: Int64] {
        guard let records = extent.records else { return [:] }
        let most = Int64(max(1, records / max(bounds.count, 1)))
        return bounds.filter { $0.value.count > most }.mapValues { $0.upperBound - most }
    }

    /// Reads the topic again, and passes the chosen letters of a snapshot to `body`. Each letter is passed once, in the
    /// order of its partition.
    /// - Returns: the number of chosen letters that the topic has deleted since the snapshot.
    @discardableResult
    func forEach(
        _ chosen: [DeadLetterSummary], of snapshot: Snapshot, body: (DeadLetter, RedriveMark) async throws -> Void
    ) async throws -> Int {
        var left = Set(chosen.map(\.mark))
        if left.isEmpty { return 0 }

        let starts = Dictionary(left.map { (TopicPartition(name, $0.partition), $0.offset) }, uniquingKeysWith: min)
        try await read(from: starts, upTo: snapshot.ends.filter { starts[$0.key] != nil }) { record, headers in
            let mark = Self.position(of: record)
            // Removed before it is sent, because a client that restarts from an earlier offset reads records twice.
            guard left.remove(mark) != nil,
                let letter = DeadLetter(key: record.key, value: record.value, headers: headers)
            else { return true }

            try await body(letter, mark)
            return !left.isEmpty
        }
        return left.count
    }

    /// Reads one letter.
    /// - Returns: `nil` if there is no letter at that position, or if it was deleted.
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

    // MARK: - Broker calls

    private func bounds() async throws -> [TopicPartition: Range<Int64>] {
        try await Failure.naming(failureText) { try await reader.bounds(of: name, within: timeout) }
    }

    private func read(
        from starts: [TopicPartition: Int64] = [:], upTo ends: [TopicPartition: Int64],
        body: (ConsumerRecord, [RecordHeader]) async throws -> Bool
    ) async throws {
        try await Failure.naming(failureText) {
            try await reader.read(from: starts, upTo: ends, timeout: timeout) { record in
                try await body(record, record.headers)
            }
        }
    }
}
