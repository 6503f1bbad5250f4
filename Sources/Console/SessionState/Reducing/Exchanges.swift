import LocationSearch

/// The exchanges kept for a session, oldest first.
struct Exchanges: Sendable, Hashable {
    private(set) var all: [Exchange] = []
    /// The bytes of all texts and places.
    private(set) var byteCount = 0

    /// Adds an action, and drops exchanges that are past or exceed the limits.
    /// - Returns: `false` if nothing changed.
    mutating func add(_ action: Action, limits: SessionLimits) -> Bool {
        let index = all.firstIndex { $0.requestID == action.requestID }
        var exchange = index.map { all[$0] } ?? Exchange(requestID: action.requestID)
        let former = exchange
        exchange.add(action)
        if exchange == former { return false }

        if let index { all.remove(at: index) }
        let newIndex = all.firstIndex { exchange.position < $0.position } ?? all.endIndex
        all.insert(exchange, at: newIndex)

        markPast()
        dropOldest(beyond: limits)
        byteCount = all.reduce(0) { $0 + $1.byteCount }
        dropOldest(beyondBytes: limits.bytes)
        return true
    }

    /// Drops the oldest exchanges while there are too many bytes, but never the newest one.
    private mutating func dropOldest(beyondBytes limit: Int) {
        var dropped = 0
        while byteCount > limit, dropped < all.count - 1 {
            byteCount -= all[dropped].byteCount
            dropped += 1
        }
        if dropped > 0 { all.removeFirst(dropped) }
    }

    /// Marks exchanges as past that are older than the newest completed search, if both positions are final. Positions and
    /// results never change, so the marks do not depend on the order of the actions.
    private mutating func markPast() {
        let newest = all.lastIndex { $0.isRequested && $0.isFirstPage && $0.isCompleted }
        guard let newest else { return }

        for index in all[..<newest].indices where all[index].isRequested && !all[index].isPast {
            all[index].becomePast()
        }
    }

    /// Drops the oldest exchanges of each operation that exceed the limits.
    private mutating func dropOldest(beyond limits: SessionLimits) {
        struct Kind: Hashable {
            let operation: SearchOperation?
            let isRequested: Bool
        }
        guard all.count > min(limits.requests, limits.unrequestedOutcomes) else { return }

        var counts: [Kind: Int] = [:]
        let kept = all.reversed().filter { exchange in
            let kind = Kind(operation: exchange.operation, isRequested: exchange.isRequested)
            counts[kind, default: 0] += 1
            return counts[kind, default: 0] <= (kind.isRequested ? limits.requests : limits.unrequestedOutcomes)
        }
        if kept.count < all.count { all = kept.reversed() }
    }
}
