internal import Basics
internal import LocationSearch

/// What a request's calls to providers cost.
struct CallCost: Sendable {
    /// The number of HTTP calls made for the request.
    var attempts = 0
    /// The number of those calls that were given up before the deadline, which count as wasted already.
    var givenUp = 0
    /// The time spent waiting for providers.
    var upstream: Duration = .zero

    /// The cost of waiting for a call that another request made.
    static func waiting(since start: Instant, until end: Instant) -> CallCost {
        CallCost(upstream: start.duration(to: end))
    }

    static func + (a: CallCost, b: CallCost) -> CallCost {
        CallCost(
            attempts: a.attempts + b.attempts, givenUp: a.givenUp + b.givenUp, upstream: a.upstream + b.upstream)
    }
}

/// A provider's answer to one request and what it cost. A class, so that passing it through async frames copies one
/// pointer.
final class GuardedAnswer: Sendable {
    let answer: ProviderAnswer
    let cost: CallCost

    init(answer: ProviderAnswer, cost: CallCost) {
        self.answer = answer
        self.cost = cost
    }
}

/// Why a request got no answer from a provider, and what that cost. A class, as `GuardedAnswer` is.
final class GuardedFailure: Error, Sendable {
    let error: SearchError
    let cause: AttemptFailure.Cause
    let cost: CallCost

    init(_ failure: AttemptFailure, cost: CallCost) {
        error = failure.error
        cause = failure.cause
        self.cost = cost
    }

    init(_ failure: GuardedFailure, cost: CallCost) {
        error = failure.error
        cause = failure.cause
        self.cost = cost
    }

    /// True for a failure that a later deadline might have prevented: a timeout, or a limiter's refusal.
    var lacksTime: Bool {
        switch cause {
        case .breakerOpen, .givenUp: false
        case .paused: true
        case .call, .noTime: error.code == .timeout || error.code == .rateLimited || error.code == .expired
        }
    }
}

/// Why one attempt brought no reply.
struct AttemptFailure: Error {
    /// The step at which it failed.
    enum Cause: Sendable {
        /// The provider was called, and the call failed.
        case call
        /// The call was given up before the request's deadline, so that another one has time.
        case givenUp
        /// The breaker is open: the provider was not called.
        case breakerOpen
        /// The provider asked for a pause that outlasts the deadline: it was not called.
        case paused
        /// A limiter or the deadline left no time: the provider was not called.
        case noTime
    }

    var error: SearchError
    var cause: Cause
}

extension AttemptFailure.Cause {
    /// Whether the provider is not to be asked for now, so that a request may be held back until it is.
    var isShut: Bool { self == .breakerOpen || self == .paused }
}
