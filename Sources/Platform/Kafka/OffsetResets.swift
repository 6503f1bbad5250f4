internal import Synchronization

/// The partitions whose reading had to go on somewhere else, because the broker had the next record no longer. Safe to use
/// from any thread.
///
/// librdkafka says so in a line of its log and nowhere else, unless it is told to stop reading.
final class OffsetResets: Sendable {
    /// One partition whose reading went on somewhere else.
    struct Reset: Sendable, Hashable {
        let partition: TopicPartition
        /// The offset that the broker did not have.
        let from: Int64
        /// `true` where reading goes on behind the newest record, `false` with the oldest.
        let toEnd: Bool
    }

    private let resets = Mutex<[Reset]>([])
    /// The offset that was not there, of the last reset of each partition.
    private let last = Mutex<[TopicPartition: Int64]>([:])

    /// Notes a line about one partition.
    /// - Returns: `false` for a line of another form.
    func note(line: String) -> Bool {
        guard let reset = Self.parse(line) else { return false }
        resets.withLock { $0.append(reset) }
        last.withLock { $0[reset.partition] = reset.from }
        return true
    }

    /// True where the broker did not have an offset, or a later one, until that is forgotten.
    func hasReset(of id: TopicPartition, beyond offset: Int64) -> Bool { last.withLock { ($0[id] ?? -1) >= offset } }

    /// Forgets where the last reset of a partition began.
    func forgetReset(of id: TopicPartition) { last.withLock { $0[id] = nil } }

    /// Removes and returns what was noted.
    func takeAll() -> [Reset] {
        resets.withLock { resets in
            defer { resets = [] }
            return resets
        }
    }

    /// Takes a line apart such as
    /// `[thrd:main]: requests [0]: offset reset (at offset 8 (leader epoch 8), broker 1) to offset BEGINNING (leader epoch -1): ...`.
    /// Before librdkafka 2.1 both epochs and the second word `offset` are missing.
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
    /// Returns where `text` stands last.
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
