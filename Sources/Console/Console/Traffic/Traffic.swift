package import EventContract
internal import Synchronization

/// The newest outcomes, rates per second, and the state of the workers. Each page has a separate position, so that a slow
/// page does not delay others. Safe to use from any thread.
package final class Traffic: Sendable {
    private struct State {
        var log: OutcomeLog
        var rates: OutcomeRates
        /// The workers' reports as JSON, and a version that increases with each change.
        var workers: (json: [UInt8], version: Int) = ([], 0)
    }

    private let state: Mutex<State>
    private let pages = PageSignals()

    /// - Parameter now: the present time, which sets the first id and the first second.
    package init(now: WallTime = .now()) {
        state = Mutex(
            State(log: OutcomeLog(firstID: max(0, Int(now.milliseconds)) * 1000), rates: OutcomeRates(now: now)))
    }

    // MARK: - Input

    /// Adds outcomes.
    /// - Parameter areNew: false for outcomes from before the start of the console, which do not count in rates.
    package func add(_ records: [OutcomeRecord], areNew: Bool) {
        guard !records.isEmpty else { return }

        state.withLock { state in
            for record in records {
                state.log.append(record)
                if areNew { state.rates.add(record) }
            }
        }
        pages.notify()
    }

    /// Adds outcomes from before the start of the console, ordered by time. They do not count in rates.
    package func addHistory(_ records: [OutcomeRecord]) {
        add(records.sorted { $0.time < $1.time }, areNew: false)
    }

    /// Closes the seconds that have passed. Call this a few times per second.
    package func advance(to now: WallTime = .now()) {
        if state.withLock({ $0.rates.advance(to: now) }) { pages.notify() }
    }

    /// Sets the workers' newest reports.
    package func update(_ workers: [WorkerReport]) {
        let json = TrafficJSON.workers(workers)
        let areNew = state.withLock { state in
            guard state.workers.json != json else { return false }
            state.workers = (json, state.workers.version + 1)
            return true
        }
        if areNew { pages.notify() }
    }

    // MARK: - Output

    /// The position of one page in the stream.
    struct Place {
        var outcome: Int
        fileprivate var second: Int64 = .min
        fileprivate var workers = 0
    }

    /// The maximum number of outcomes that a page gets at first, and in one event.
    private static let outcomesAtFirst = 500
    private static let outcomesPerEvent = 500

    /// Returns the start position of a page.
    /// - Parameter lastSeen: the id of the last outcome that the page has; `nil` for a new page. It is untrusted and may be
    ///   any number. A page with an id higher than the newest one starts as a new page, because it would otherwise get no
    ///   outcomes.
    func place(lastSeen: Int?) -> Place {
        state.withLock { state in
            if let lastSeen, lastSeen <= state.log.newestID { return Place(outcome: lastSeen) }
            return Place(outcome: state.log.placeOfNewPage(showing: Self.outcomesAtFirst))
        }
    }

    /// Returns the events that a page has not received, and advances its position.
    func events(from place: inout Place) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        place = state.withLock { state in
            var place = place

            let outcomes = state.log.entries(after: place.outcome, limit: Self.outcomesPerEvent)
            if let last = outcomes.last?.id {
                place.outcome = last
                events.append(ServerSentEvent("outcomes", data: TrafficJSON.outcomes(outcomes)))
            }

            let seconds = state.rates.seconds.filter { $0.time > place.second }
            if let last = seconds.last?.time {
                place.second = last
                events.append(ServerSentEvent("rates", data: TrafficJSON.rates(seconds)))
            }
            if state.workers.version > place.workers {
                place.workers = state.workers.version
                events.append(ServerSentEvent("workers", data: state.workers.json))
            }
            return place
        }
        return events
    }

    /// Returns a stream with a signal for each change. Signals that are not yet awaited are merged.
    func changes() -> AsyncStream<Void> { pages.changes() }

    /// Returns the record of an outcome as JSON; `nil` if it was dropped.
    func details(ofOutcome id: Int, by terms: ContentTerms) -> [UInt8]? {
        state.withLock { $0.log[id] }.map { TrafficJSON.details(of: $0, by: terms) }
    }
}
