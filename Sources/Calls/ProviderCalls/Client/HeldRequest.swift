internal import Basics
internal import LocationSearch
import Resilience

extension ProviderClient {
    /// Returns the wait of a request for this provider's answer. It does nothing until its `begin` is called.
    ///
    /// `whenOpen` decides whether a request without an alternative provider is parked while the breaker is open.
    /// - Parameter then: called once on this client's actor, possibly before `begin` has returned.
    func ask(
        _ query: ProviderQuery, before deadline: Deadline,
        then: @escaping (Result<ProviderResponse, ProviderFailure>) -> Void
    ) -> any ProviderWait {
        guard !query.hasAlternative, policy.whenOpen == .hold else {
            return takePart(query, before: deadline, then: then)
        }
        return HeldRequest(query, before: deadline, at: self, then: then)
    }
}

/// A request that is parked while its provider is shut, and sent when the provider is open again (`whenOpen=hold`).
///
/// The parked time does not count against its deadline. Parking ends with the request's lifetime, so that no billed call is
/// made for an unwanted answer. Belongs to one `ProviderClient`.
final class HeldRequest: ProviderWait {
    /// The longest time between two checks of a parked request. The breaker may admit calls before the announced time.
    private static let longestPause = Duration.seconds(5)

    private let query: ProviderQuery
    private var deadline: Deadline
    private let client: ProviderClient
    private let then: (Result<ProviderResponse, ProviderFailure>) -> Void
    private var spent = CallCost()
    private var isCancelled = false
    /// The request's membership in a shared call; `nil` before it joins one.
    private var part: SingleFlight.Member?
    /// When parking began, when it ends at the latest, and why; `nil` while the request takes part in a call.
    private var pause: (start: Instant, end: Instant, failure: ProviderFailure)?
    /// The next check of the provider, while the request is parked.
    private var timer: ScheduledAction?

    init(
        _ query: ProviderQuery, before deadline: Deadline, at client: ProviderClient,
        then: @escaping (Result<ProviderResponse, ProviderFailure>) -> Void
    ) {
        self.query = query
        self.deadline = deadline
        self.client = client
        self.then = then
    }

    func begin() {
        let part = client.takePart(query, before: deadline) { [self] in take($0) }
        self.part = part
        part.begin()
    }

    func cancel() {
        isCancelled = true
        if pause == nil { part?.cancel(); return }
        timer?.cancel()
        timer = client.timekeeper.schedule(at: client.timekeeper.now) { [self] in endPause() }
    }

    private func take(_ result: Result<ProviderResponse, ProviderFailure>) {
        part = nil
        switch result {
        case .success(let response):
            then(.success(ProviderResponse(answer: response.answer, cost: response.cost + spent)))
        case .failure(let failure):
            spent = spent + failure.cost
            guard failure.cause.isShut, !isCancelled, let length = failure.error.retryAfter else {
                return then(.failure(ProviderFailure(failure, cost: spent)))
            }
            let start = client.clock.now
            let end = query.lastCall.map { min($0, start + length) } ?? start + length
            pause = (start, end, failure)
            client.parked += 1
            look()
        }
    }

    /// Stays parked, or sends the request again. A new key or a raised budget may open the provider before the announced time.
    private func look() {
        guard let pause else { return }
        let now = client.clock.now
        guard now < pause.end, now == pause.start || client.caller.queue.limits.shutUntil(at: now) != nil else {
            return endPause()
        }
        let next = min(pause.end, now + Self.longestPause)
        timer = client.timekeeper.schedule(at: next) { [self] in look() }
    }

    private func endPause() {
        guard let pause = pause.take() else { return }
        let now = client.clock.now
        client.parked -= 1
        query.context?.noteStep(.park, of: client.id, from: pause.start, to: now, as: isCancelled ? .cancelled : .over)
        if isCancelled {
            then(.failure(ProviderFailure(pause.failure, cost: spent)))
        } else if query.isOver(at: now) {
            then(.failure(ProviderFailure(client.caller.overWhileWaiting, cost: spent)))
        } else {
            deadline = query.extended(deadline, by: pause.start.duration(to: now))
            begin()
        }
    }
}
