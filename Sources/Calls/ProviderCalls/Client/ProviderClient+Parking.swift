internal import Basics
internal import LocationSearch
import Resilience

/// Parks queries while their provider is shut, and begins them again when it is open (`whenOpen=hold`).
///
/// Only queries without an alternative provider are parked. The parked time does not count against the deadline. Parking
/// ends with the request's lifetime, so that no billed call is made for an unwanted answer.
extension ProviderClient {
    /// The longest time between two checks of a parked query. The breaker may admit calls before the announced time.
    private static let longestPause = Duration.seconds(5)

    /// Parks a query if its result is that the provider must not be called now.
    /// - Returns: `false` if the query is not parked.
    func parks(_ query: ProviderQuery) -> Bool {
        guard !query.hasAlternative, !query.search.isCancelled, case .over(.failure(let failure)) = query.end,
            failure.cause.isShut, let length = failure.error.retryAfter
        else { return false }

        let start = clock.now
        let end = query.lastCall.map { min($0, start + length) } ?? start + length
        query.pause = ProviderQuery.Pause(start: start, end: end, failure: failure)
        parked += 1
        look(after: query)
        return true
    }

    /// Leaves a query parked, or begins it again. A new key or a raised budget may open the provider before the announced
    /// time.
    private func look(after query: ProviderQuery) {
        guard let pause = query.pause else { return }
        let now = clock.now
        guard now < pause.end, now == pause.start || shutUntil(for: query, at: now) != nil else {
            return endPause(of: query)
        }
        let next = min(pause.end, now + Self.longestPause)
        query.pause?.timer = timekeeper.schedule(at: next) { [self] in look(after: query) }
    }

    private func shutUntil(for query: ProviderQuery, at now: Instant) -> Instant? {
        let limits = caller.queue.limits
        return limits.shutUntil(for: limits.groups.index(of: query.priceClass(followUp: nil)), at: now)
    }

    /// Ends the pause of a cancelled query in a later job.
    func cancelPause(of query: ProviderQuery) {
        query.pause?.timer?.cancel()
        query.pause?.timer = timekeeper.schedule(at: timekeeper.now) { [self] in endPause(of: query) }
    }

    private func endPause(of query: ProviderQuery) {
        guard let pause = query.pause.take() else { return }
        let now = clock.now
        parked -= 1
        let isCancelled = query.search.isCancelled
        query.context?.noteStep(.park, of: id, from: pause.start, to: now, as: isCancelled ? .cancelled : .over)
        if isCancelled {
            fail(query, because: pause.failure)
        } else if query.isOver(at: now) {
            fail(query, because: caller.overWhileWaiting)
        } else {
            query.extendDeadline(by: pause.start.duration(to: now))
            query.start = now
            begin(query)
        }
    }
}
