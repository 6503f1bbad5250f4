internal import Basics
internal import LocationSearch
import Resilience

/// Parks searches while their provider may not be called, and begins them again when it may (`whenOpen=hold`).
///
/// Only searches without an alternative provider are parked. The parked time does not count against the deadline. Parking
/// ends at the latest start of a call (`lastCall`), so that no billed call is made for an unwanted answer.
extension ProviderClient {
    /// The longest time between two checks of a parked search. The breaker may admit calls before the announced time.
    private static let longestPause = Duration.seconds(5)

    /// Parks a search if its result is that the provider must not be called now.
    /// - Returns: `false` if the search is not parked.
    func parks(_ search: ProviderSearch) -> Bool {
        guard !search.hasAlternative, !search.isCancelled, case .over(.failure(let failure)) = search.membership.end,
            failure.cause.isShut, let length = failure.error.retryAfter
        else { return false }

        let start = clock.now
        let end = search.lastCall.map { min($0, start + length) } ?? start + length
        search.pause = ProviderSearch.Pause(start: start, end: end, failure: failure)
        parked += 1
        // Its reason is not checked now. A half-open breaker, and a budget kept for interactive requests, refuse some calls
        // only, so the check would begin the search again at once.
        park(search, until: end, at: start)
        return true
    }

    /// Leaves a search parked, or begins it again. A new key or a raised budget may end the reason before the announced
    /// time.
    private func look(after search: ProviderSearch) {
        guard let pause = search.pause else { return }
        let now = clock.now
        let group = group(of: search.request, at: search.service) ?? 0
        guard now < pause.end, caller.queue.limits.shutUntil(for: group, at: now) != nil else {
            return endPause(of: search)
        }
        park(search, until: pause.end, at: now)
    }

    private func park(_ search: ProviderSearch, until end: Instant, at now: Instant) {
        let next = min(end, now + Self.longestPause)
        search.pause?.timer = timekeeper.schedule(at: next) { [self] in look(after: search) }
    }

    /// Ends the pause of a cancelled search in a later job.
    func cancelPause(of search: ProviderSearch) {
        search.pause?.timer?.cancel()
        search.pause?.timer = timekeeper.schedule(at: timekeeper.now) { [self] in endPause(of: search) }
    }

    private func endPause(of search: ProviderSearch) {
        guard let pause = search.pause.take() else { return }
        let now = clock.now
        parked -= 1
        let isCancelled = search.isCancelled
        search.context?.noteStep(.park, of: id, from: pause.start, to: now, as: isCancelled ? .cancelled : .over)
        if isCancelled {
            fail(search, because: pause.failure)
        } else if search.isOver(at: now) {
            fail(search, because: caller.overWhileWaiting)
        } else {
            search.extendDeadline(by: pause.start.duration(to: now))
            search.membership.start = now
            begin(search)
        }
    }
}
