import EventContract
import Kafka

/// The times at which the newest requests were written to their topics. The time until a worker took a request is
/// computed from them.
struct RequestTimes {
    private struct Key: Hashable {
        let partition: TopicPartition
        let offset: Int64
    }

    private let most: Int
    private var times: [Key: WallTime] = [:]
    /// The keys in order of arrival. Once there are `most` keys, `next` is the index of the oldest.
    private var keys: [Key] = []
    private var next = 0
    private var newestOffsets: [TopicPartition: Int64] = [:]

    /// - Parameter most: the number of requests that are kept.
    init(most: Int = 20_000) { self.most = max(most, 1) }

    var count: Int { times.count }

    /// Stores the timestamp of a record of a request topic, if it has one.
    mutating func note(_ record: ConsumerRecord) {
        let partition = record.partition.id
        newestOffsets[partition] = max(record.offset, newestOffsets[partition] ?? record.offset)
        guard let time = record.time else { return }
        note(partition: partition, offset: record.offset, time)
    }

    mutating func note(partition: TopicPartition, offset: Int64, _ time: WallTime) {
        let key = Key(partition: partition, offset: offset)
        guard times.updateValue(time, forKey: key) == nil else { return }

        if keys.count < most {
            keys.append(key)
        } else {
            times[keys[next]] = nil
            keys[next] = key
            next = (next + 1) % most  // bounded: an index of `keys`, which has `most` elements, and `most` is above 0
        }
    }

    /// Returns `true` if a request's position is after all positions read so far in its partition.
    func isYetToCome(_ position: SourcePosition) -> Bool {
        newestOffsets[position.topicPartition].map { position.offset > $0 } ?? true
    }

    /// Returns the time of the request at a position; `nil` if it was not read, or its entry was replaced.
    subscript(position: SourcePosition) -> WallTime? {
        times[Key(partition: position.topicPartition, offset: position.offset)]
    }
}

extension SourcePosition {
    fileprivate var topicPartition: TopicPartition { TopicPartition(topic, partition) }
}

/// New outcomes that were read before their requests. Each partition is fetched separately, so an outcome may be read
/// before its request. Without that request, its waiting time would be unknown.
struct EarlyOutcomes {
    private struct Waiting {
        let outcome: ConsumerRecord
        let request: SourcePosition
        var turns = 0
    }

    /// The maximum number of reads that an outcome waits for: a header may name a request that does not exist.
    private let mostTurns: Int
    private var waiting: [Waiting] = []

    init(mostTurns: Int) { self.mostTurns = mostTurns }

    mutating func add(_ outcome: ConsumerRecord, of request: SourcePosition) {
        waiting.append(Waiting(outcome: outcome, request: request))
    }

    /// Returns the outcomes whose requests have been read since the last call, and those that have waited long enough.
    mutating func takeReady(_ times: RequestTimes) -> [ConsumerRecord] {
        var ready: [ConsumerRecord] = []
        var left: [Waiting] = []
        for var entry in waiting {
            entry.turns += 1  // bounded: an entry is removed after `mostTurns`
            if entry.turns >= mostTurns || !times.isYetToCome(entry.request) {
                ready.append(entry.outcome)
            } else {
                left.append(entry)
            }
        }
        waiting = left
        return ready
    }
}
