internal import Synchronization

/// The partitions in which reading jumped to another offset, because the broker no longer had the next record. Safe to
/// use from any thread.
///
/// librdkafka reports this only in a log line, unless it is configured to stop reading.
final class OffsetResets: Sendable {
    /// A jump of one partition to another offset.
    struct Reset: Sendable, Hashable {
        let partition: TopicPartition
        /// The offset that the broker did not have.
        let from: Int64
        /// `true` if reading continues after the newest record, `false` if it continues at the oldest.
        let toEnd: Bool
    }

    private let resets = Mutex<[Reset]>([])
    /// The missing offset of each partition's last reset.
    private let last = Mutex<[TopicPartition: Int64]>([:])

    /// Records a log line about one partition.
    /// - Returns: `false` for a line of another form.
    func note(line: String) -> Bool {
        guard let reset = Self.parse(line) else { return false }
        resets.withLock { $0.append(reset) }
        last.withLock { $0[reset.partition] = reset.from }
        return true
    }

    /// True if the partition was reset at this offset or a later one, and that reset was not cleared.
    func hasReset(of id: TopicPartition, beyond offset: Int64) -> Bool { last.withLock { ($0[id] ?? -1) >= offset } }

    /// Clears the last reset of a partition.
    func forgetReset(of id: TopicPartition) { last.withLock { $0[id] = nil } }

    /// Removes and returns all recorded resets.
    func takeAll() -> [Reset] {
        resets.withLock { resets in
            defer { resets = [] }
            return resets
        }
    }

    /// Parses a line such as
    /// `[thrd:main]: requests [0]: offset reset (at offset 8 (leader epoch 8), broker 1) to offset BEGINNING (leader epoch -1): ...`.
    /// Before librdkafka 2.1, both epochs and the second word `offset` are missing.
    static func parse(_ line: String) -> Reset? {
        var rest = Substring(line)
        if rest.hasPrefix("[thrd:"), let end = rest.firstRange(of: "]: ") { rest = rest[end.upperBound...] }

        guard let words = rest.firstRange(of: "]: offset reset (at offset "),
            let bracket = rest[..<words.lowerBound].lastRange(of: " ["),
            let number = Int32(rest[bracket.upperBound..<words.lowerBound])
        else { return nil }
        let topic = rest[..<bracket.lowerBound]
        let details = rest[words.upperBound...]

        guard let offset = Int64(details.prefix { $0.isNumber }), let to = details.firstRange(of: ") to ") else {
            return nil
        }
        let target = details[to.upperBound...].prefix { $0 != ":" }
        return Reset(
            partition: TopicPartition(String(topic), number), from: offset, toEnd: target.firstRange(of: "END") != nil)
    }
}

extension Substring {
    fileprivate func lastRange(of text: String) -> Range<Index>? {
        var found: Range<Index>?
        var rest = self
        while let range = rest.firstRange(of: text) {
            found = range
            rest = rest[range.upperBound...]
        }
        return found
    }
}
