import Basics
import TestSupport
import Testing

@testable import Resilience

/// Limits that operators change while calls are made.
struct ControlledLimitsTests {
    private let start = Instant.now

    // MARK: - A breaker that is held open

    private func call(_ breaker: CircuitBreaker, after time: Duration = .zero) -> CircuitBreaker.Reason?? {
        do throws(CircuitBreaker.Rejection) {
            let permit = try breaker.permit(at: start + time)
            permit.finish(.success, at: start + time)
            return nil
        } catch {
            return .some(error.reason)
        }
    }

    @Test(arguments: [true, false])
    func `A held breaker permits no call until its release`(isEnabled: Bool) {
        var configuration = CircuitBreaker.Configuration()
        configuration.isEnabled = isEnabled
        let breaker = CircuitBreaker(configuration)
        breaker.holdOpen(at: start)
        for hours in [0, 1, 100] {
            #expect(call(breaker, after: .seconds(3600 * hours)) == .some(.pausedByOrder))
        }
        #expect(breaker.reason(at: start) == .pausedByOrder)
        #expect(breaker.openUntil(at: start) != nil)

        breaker.release(at: start)
        for _ in 0..<100 { #expect(call(breaker) == nil) }
        #expect(breaker.state(at: start) == .closed)
        #expect(breaker.reason(at: start) == nil)
    }

    @Test func `A breaker that was open stays open after its release`() {
        let breaker = CircuitBreaker()
        breaker.trip(for: .seconds(60), because: .keyRefused, at: start)
        breaker.holdOpen(at: start)
        #expect(call(breaker) == .some(.pausedByOrder))
        breaker.release(at: start + .seconds(1))
        #expect(call(breaker, after: .seconds(1)) == .some(.keyRefused))
        #expect(call(breaker, after: .seconds(60)) == nil)
    }

    @Test func `A new key ends no order`() {
        let breaker = CircuitBreaker()
        breaker.holdOpen(at: start)
        breaker.trip(for: .seconds(60), because: .keyRefused, at: start)
        breaker.renewKey()
        #expect(call(breaker) == .some(.pausedByOrder))
        breaker.release(at: start)
        #expect(call(breaker) == nil)
        #expect(breaker.state(at: start) == .halfOpen, "the new key is tried with care")
    }

    @Test func `Failures of calls in flight do not end the order`() throws {
        let breaker = CircuitBreaker()
        let permit = try breaker.permit(at: start)
        breaker.holdOpen(at: start)
        permit.finish(.trip(for: .seconds(5), because: .quotaUsedUp), at: start)
        #expect(call(breaker, after: .seconds(6)) == .some(.pausedByOrder))
    }

    // MARK: - A rate

    @Test func `A lower limit counts at once and also for saved tokens`() {
        var bucket = RateBucket(limit: RateLimit(perSecond: 50, burst: 50), share: 0.5, at: start)
        bucket.setLimit(RateLimit(perSecond: 50, burst: 50).scaled(to: 10), at: start)
        // Half of 10 a second, and half of a burst of 10.
        let passed = (0..<400).count { bucket.takes(at: start + .milliseconds(10 * $0)) }
        #expect((24...25).contains(passed), "\(passed)")
    }

    @Test func `A higher limit brings no tokens`() {
        var bucket = RateBucket(limit: RateLimit(perSecond: 10, burst: 10), share: 1, at: start)
        let saved = (0..<10).count { _ in bucket.takes(at: start) }
        #expect(saved == 10)
        bucket.setLimit(RateLimit(perSecond: 100, burst: 100), at: start)
        let gained = bucket.takes(at: start)
        #expect(!gained)
        let passed = (1...100).count { bucket.takes(at: start + .milliseconds(10 * $0)) }
        #expect((99...100).contains(passed), "\(passed)")
    }

    @Test func `A key without a limit cannot be given one`() {
        var bucket = RateBucket(limit: nil, share: 1, at: start)
        bucket.setLimit(RateLimit(perSecond: 1), at: start)
        let passed = (0..<100).count { _ in bucket.takes(at: start) }
        #expect(passed == 100)
    }

    // MARK: - Concurrency

    @Test(arguments: [true, false])
    func `The limit follows its maximum up and down`(isAdaptive: Bool) {
        let time = VirtualTime()
        Owner(time).assumeIsolated { _ in
            var configuration = ConcurrencyLimit.Configuration(maximum: 8)
            configuration.isAdaptive = isAdaptive
            let limit = ConcurrencyLimit(configuration, timekeeper: time)
            limit.setMaximum(20)
            #expect(limit.limit == 20)
            limit.setMaximum(8)
            #expect(limit.limit == 8)
        }
    }
}

extension RateBucket {
    /// Takes a token, if there is one.
    fileprivate mutating func takes(at now: Instant) -> Bool {
        guard hasToken(at: now) else { return false }
        take()
        return true
    }
}
