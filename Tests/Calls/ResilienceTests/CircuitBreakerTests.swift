import Basics
import Testing

@testable import Resilience

struct CircuitBreakerTests {
    private let start = Instant.now

    private func breaker(
        _ change: (inout CircuitBreaker.Configuration) -> Void = { _ in }
    ) -> (CircuitBreaker, Transitions) {
        var configuration = CircuitBreaker.Configuration()
        configuration.minimumCalls = 10
        change(&configuration)
        let (breaker, seen) = (CircuitBreaker(configuration), Transitions())
        breaker.onTransition = { seen.all.append($0) }
        return (breaker, seen)
    }

    private final class Transitions {
        var all: [CircuitBreaker.Transition] = []
    }

    /// Makes a call that begins and ends at once.
    /// - Returns: the time after which it may be repeated, if it was rejected.
    @discardableResult
    private func call(
        _ breaker: CircuitBreaker, _ outcome: CircuitBreaker.Outcome, after time: Duration = .zero
    ) -> Duration? {
        do throws(CircuitBreaker.Rejection) {
            let permit = try breaker.permit(at: start + time)
            permit.finish(outcome, at: start + time)
            return nil
        } catch {
            return error.retryAfter
        }
    }

    // MARK: - A new key

    @Test(arguments: [CircuitBreaker.Reason.keyRefused, .quotaUsedUp])
    func `A new key is tried at once if the last one was the cause`(reason: CircuitBreaker.Reason) {
        let (breaker, seen) = breaker()
        breaker.trip(for: .seconds(300), because: reason, at: start)
        #expect(call(breaker, .success) != nil, "it is shut")

        breaker.renewKey()
        #expect(call(breaker, .success) == nil)
        #expect(seen.all.map(\.to) == [.open, .halfOpen])
    }

    @Test func `A new key does not close a breaker with another cause`() {
        let (breaker, _) = breaker()
        breaker.trip(for: .seconds(300), because: .failureRate, at: start)

        breaker.renewKey()
        #expect(call(breaker, .success) != nil)
    }

    /// The key was replaced while calls with the last one were in flight, before or after the provider refused one.
    @Test(arguments: [false, true])
    func `Calls that began with the last key do not shut the provider for the new one`(wasRefused: Bool) throws {
        let (breaker, _) = breaker()
        let late = try breaker.permit(at: start)
        let later = try breaker.permit(at: start)
        if wasRefused { breaker.trip(for: .seconds(300), because: .keyRefused, at: start) }

        breaker.renewKey()
        late.finish(.trip(for: .seconds(300), because: .keyRefused), at: start)
        #expect(call(breaker, .success) == nil)

        later.finish(.trip(for: .seconds(300), because: .quotaUsedUp), at: start)
        let permit = try breaker.permit(at: start)
        permit.finish(.trip(for: .seconds(300), because: .keyRefused), at: start)
        #expect(call(breaker, .success) != nil, "the new key is refused, too")
    }

    @Test func `A new key among probes does not lose their places`() throws {
        let (breaker, _) = breaker()
        breaker.trip(for: .seconds(1), because: .failureRate, at: start)
        let probe = try breaker.permit(at: start + .seconds(2))
        breaker.renewKey()
        probe.finish(.ignored, at: start + .seconds(2))

        for _ in 0..<10 { call(breaker, .success, after: .seconds(2)) }
        #expect(breaker.state == .closed)
    }

    // MARK: - Opening

    static let mixes: [(good: Int, bad: Int, slow: Int, ignored: Int, reason: CircuitBreaker.Reason?)] = [
        (5, 5, 0, 0, .failureRate), (6, 4, 0, 0, nil), (0, 9, 0, 0, nil), (0, 10, 0, 0, .failureRate),
        (2, 0, 8, 0, .slowCallRate), (3, 0, 7, 0, nil), (0, 5, 5, 0, .failureRate),
        (0, 0, 0, 500, nil), (6, 4, 0, 500, nil), (0, 9, 0, 500, nil), (500, 0, 0, 0, nil),
    ]

    /// Outcomes that do not depend on the provider, such as an invalid request or a cancelled call, are not counted.
    @Test(arguments: mixes)
    func `The breaker opens at the rate of failures or of slow calls`(
        good: Int, bad: Int, slow: Int, ignored: Int, reason: CircuitBreaker.Reason?
    ) {
        let (breaker, seen) = breaker()
        for _ in 0..<ignored { call(breaker, .ignored) }
        for _ in 0..<good { call(breaker, .success) }
        for _ in 0..<slow { call(breaker, .slow) }
        for _ in 0..<bad { call(breaker, .failure) }
        #expect(breaker.state == (reason == nil ? .closed : .open))
        #expect(seen.all.map(\.reason) == (reason.map { [$0] } ?? []))
    }

    @Test func `The breaker forgets calls older than its window`() {
        let (breaker, seen) = breaker()
        for number in 0..<100 {
            call(breaker, number.isMultiple(of: 2) ? .failure : .success, after: .seconds(2 * number))
        }
        #expect(seen.all.isEmpty, "half of them fail, but never ten within ten seconds")
    }

    /// All calls in flight may receive the same answer.
    @Test func `A tripped breaker opens at once for the given time`() throws {
        let (breaker, seen) = breaker()
        let first = try breaker.permit(at: start)
        let second = try breaker.permit(at: start)
        let third = try breaker.permit(at: start)
        first.finish(.trip(for: .seconds(200), because: .keyRefused), at: start)
        second.finish(.trip(for: .seconds(300), because: .keyRefused), at: start)
        third.finish(.success, at: start)
        breaker.trip(for: .seconds(100), because: .keyRefused, at: start)
        #expect(breaker.openUntil(at: start) == start + .seconds(300), "the longest counts")
        #expect(call(breaker, .success, after: .seconds(299)) == .seconds(1))
        #expect(call(breaker, .success, after: .seconds(300)) == nil)
        #expect(seen.all.map(\.to) == [.open, .halfOpen], "said once")
        #expect(seen.all.first?.reason == .keyRefused)
        #expect(seen.all.first?.openFor == .seconds(200))
    }

    @Test func `A disabled breaker permits every call`() {
        let (breaker, seen) = breaker { $0.isEnabled = false }
        for _ in 0..<100 { #expect(call(breaker, .failure) == nil) }
        #expect(call(breaker, .trip(for: .seconds(300), because: .keyRefused)) == nil)
        #expect(call(breaker, .success) == nil)
        #expect(seen.all.isEmpty)
    }

    // MARK: - Open, half-open

    @Test func `An open breaker returns the time until the next attempt`() {
        let (breaker, _) = breaker()
        for _ in 0..<10 { call(breaker, .failure) }
        #expect(call(breaker, .success) == .seconds(5))
        #expect(call(breaker, .success, after: .milliseconds(4999)) == .milliseconds(1))
    }

    @Test func `A half-open breaker permits only its number of probes`() throws {
        let (breaker, _) = breaker()
        for _ in 0..<10 { call(breaker, .failure) }
        let later = start + .seconds(5)
        let first = try breaker.permit(at: later)
        let second = try breaker.permit(at: later)
        do {
            let third = try breaker.permit(at: later)
            _ = third  // dropped, as by a cancelled call, which returns its permit
        }
        let third = try breaker.permit(at: later)
        #expect(throws: CircuitBreaker.Rejection(retryAfter: .seconds(1), reason: .failureRate)) {
            _ = try breaker.permit(at: later)
        }
        first.finish(.success, at: later)
        second.finish(.success, at: later)
        #expect(breaker.state == .halfOpen)
        third.finish(.success, at: later)
        #expect(breaker.state == .closed)
    }

    @Test func `Failed probes double the open time up to the maximum`() {
        let (breaker, seen) = breaker()
        for _ in 0..<10 { call(breaker, .failure) }
        var now = Duration.zero
        for _ in 0..<6 {
            now += seen.all.last?.openFor ?? .zero
            call(breaker, .success, after: now)
            call(breaker, .failure, after: now)
            call(breaker, .failure, after: now)
            #expect(breaker.state == .open)
        }
        #expect(seen.all.compactMap(\.openFor) == [5, 10, 20, 40, 60, 60, 60].map { .seconds($0) })
        now += .seconds(60)
        for _ in 0..<3 { call(breaker, .success, after: now) }
        #expect(breaker.state == .closed)
        for _ in 0..<10 { call(breaker, .failure, after: now) }
        #expect(seen.all.last?.openFor == .seconds(5), "good probes end the doubling")
    }

    /// The open duration may be configured to ten minutes. Doubling is capped, but never shortens the configured duration.
    @Test func `The breaker keeps an open duration above a minute`() {
        let (breaker, seen) = breaker { $0.openDuration = .seconds(600) }
        for _ in 0..<10 { call(breaker, .failure) }
        #expect(call(breaker, .success, after: .seconds(599)) == .seconds(1))

        for _ in 0..<3 { call(breaker, .failure, after: .seconds(600)) }
        #expect(seen.all.compactMap(\.openFor) == [.seconds(600), .seconds(600)])
    }

    @Test func `The breaker ignores answers from before a transition`() throws {
        let (breaker, seen) = breaker()
        let late = try breaker.permit(at: start)
        for _ in 0..<10 { call(breaker, .failure) }
        for _ in 0..<3 { call(breaker, .success, after: .seconds(5)) }
        #expect(breaker.state == .closed)
        late.finish(.failure, at: start + .seconds(6))
        for _ in 0..<9 { call(breaker, .failure, after: .seconds(6)) }
        #expect(breaker.state == .closed)
        #expect(seen.all.map(\.to) == [.open, .halfOpen, .closed])
    }
}

extension CircuitBreaker {
    /// Permits a call, or throws its refusal.
    func permit(at now: Instant) throws(Rejection) -> Permit {
        if let rejection = rejection(at: now) { throw rejection }
        return take(at: now)
    }
}
