import EventContract
import Kafka

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
