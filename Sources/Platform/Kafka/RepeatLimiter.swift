internal import Basics

/// Lets one log line of each kind through in a period, and counts the ones in between.
struct RepeatLimiter<Kind: Hashable & Sendable>: Sendable {
    private struct Entry {
        var last: Instant
        var leftOut = 0
    }
    private let period: Duration
    private let maxKinds: Int
    private var entries: [Kind: Entry] = [:]

    /// - Parameters:
    ///   - period: How long a kind is silent after one of its lines.
    ///   - maxKinds: Bounds what is kept. Kinds that were silent for a period are forgotten first.
    init(period: Duration = .seconds(30), maxKinds: Int = 100) {
        self.period = period
        self.maxKinds = maxKinds
    }

    /// Decides about one line.
    /// - Returns: How many lines of its kind were left out since the last one, when this one is to be written; `nil` when
    ///   this one is to be left out too.
    mutating func admit(_ kind: Kind, at now: Instant) -> Int? {
        if var entry = entries[kind], now - entry.last < period {
            entry.leftOut += 1
            entries[kind] = entry
            return nil
        }

        let leftOut = entries[kind]?.leftOut ?? 0
        if entries.count >= maxKinds { entries = entries.filter { now - $0.value.last < period } }
        if entries.count < maxKinds { entries[kind] = Entry(last: now) }
        return leftOut
    }
}
