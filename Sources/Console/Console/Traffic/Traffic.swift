package import EventContract
internal import Synchronization

/// The newest outcomes, rates by the second, and the state of the workers. Many pages look at it at once, each at its
/// own place, so that a slow page holds up none of the others. Safe to use from any thread.
package final class Traffic: Sendable {
    private struct State {
        var log: OutcomeLog
        var rates: OutcomeRates
        /// The workers' reports as JSON, and a number that rises with each change of them.
        var workers: (json: [UInt8], version: Int) = ([], 0)
    }

    private let state: Mutex<State>
    private let pages = PageSignals()

    /// - Parameter now: the time, in which the first id and the first second begin.
    package init(now: EventTime = .now()) {
        state = Mutex(
            State(log: OutcomeLog(firstID: max(0, Int(now.milliseconds)) * 1000), rates: OutcomeRates(now: now)))
    }

    // MARK: - What comes in

    /// Keeps outcomes.
    /// - Parameter areNew: false for what was there before the console began, which is no part of any rate.
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

    /// Keeps what was there before the console began, in the order of its times. It is no part of any rate.
    package func addHistory(_ records: [OutcomeRecord]) {
        add(records.sorted { $0.time < $1.time }, areNew: false)
    }

    /// Ends the seconds that are over. To be called a few times each second.
    package func advance(to now: EventTime = .now()) {
        if state.withLock({ $0.rates.advance(to: now) }) { pages.notify() }
    }

    /// Takes what the workers said last.
    package func update(_ workers: [WorkerReport]) {
        let json = TrafficJSON.workers(workers)
        let areNew = state.withLock { state in
            guard state.workers.json != json else { return false }
            state.workers = (json, state.workers.version + 1)
            return true
        }
        if areNew { pages.notify() }
    }

    // MARK: - What goes out

    /// The place of one page in what goes by.
    struct Place {
        var outcome: Int
        fileprivate var second: Int64 = .min
        fileprivate var workers = 0
    }

    /// The outcomes that a page gets at first, and in one event.
    private static let outcomesAtFirst = 500
    private static let outcomesPerEvent = 500

    /// Returns where a page begins.
    /// - Parameter lastSeen: the id of the last outcome that it has, as it says: any number; `nil` for a new page. A page that
    ///   names an id which no outcome has had yet begins as a new one, because it would wait for that one for ever.
    func place(lastSeen: Int?) -> Place {
        state.withLock { state in
            if let lastSeen, lastSeen <= state.log.newestID { return Place(outcome: lastSeen) }
            return Place(outcome: state.log.placeOfNewPage(showing: Self.outcomesAtFirst))
        }
    }

    /// Returns the events that a page has not had yet, and moves its place behind them.
    func events(from place: inout Place) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        place = state.withLock { state in
            var place = place

            let batch = state.log.entries(after: place.outcome, limit: Self.outcomesPerEvent)
            if let last = batch.entries.last?.id {
                place.outcome = last
                events.append(ServerSentEvent("outcomes", data: TrafficJSON.outcomes(batch), id: last))
            }

            events += Self.rates(of: state, from: &place)
            if state.workers.version > place.workers {
                place.workers = state.workers.version
                events.append(ServerSentEvent("workers", data: state.workers.json))
            }
            return place
        }
        return events
    }

    private static func rates(of state: borrowing State, from place: inout Place) -> [ServerSentEvent] {
        let seen = place.second
        guard let last = state.rates.seconds.last?.time, last > seen else { return [] }

        place.second = last
        let isFirst = seen == .min
        if isFirst { return [ServerSentEvent("history", data: TrafficJSON.history(state.rates.seconds))] }
        return state.rates.seconds.reversed().prefix { $0.time > seen }.reversed().map { second in
            ServerSentEvent("rates", data: TrafficJSON.rates(second))
        }
    }

    /// Returns a signal for each time that there is something new; several that are not awaited are one.
    func changes() -> AsyncStream<Void> { pages.changes() }

    /// Returns the record of an outcome as JSON; `nil` when it was forgotten.
    func details(ofOutcome id: Int) -> [UInt8]? {
        let record = state.withLock { $0.log[id] }
        return record.map { TrafficJSON.details(of: $0, id: id) }
    }
}
