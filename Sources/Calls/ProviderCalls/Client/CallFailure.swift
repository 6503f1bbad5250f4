internal import Basics
internal import LocationSearch

/// The cost of a request's provider calls.
public struct CallCost: Sendable, Hashable {
    /// The number of HTTP calls made for the request.
    public var attempts = 0
    /// The number of those calls that were abandoned before the deadline. They are already counted as wasted.
    public var givenUp = 0
    /// The time spent waiting for providers.
    public var upstream: Duration = .zero

    public init(attempts: Int = 0, givenUp: Int = 0, upstream: Duration = .zero) {
        (self.attempts, self.givenUp, self.upstream) = (attempts, givenUp, upstream)
    }

    /// Returns the cost of waiting for a call that another request made.
    static func waiting(since start: Instant, until end: Instant) -> CallCost {
        CallCost(upstream: start.duration(to: end))
    }

    static func + (a: CallCost, b: CallCost) -> CallCost {
        CallCost(
            attempts: a.attempts + b.attempts, givenUp: a.givenUp + b.givenUp, upstream: a.upstream + b.upstream)
    }
}

/// The failure of a call to a provider, made or not. Everything between the limits and `SearchWorker` fails with this type.
struct CallFailure: Error {
    /// The step at which the call failed.
    enum Cause: Sendable {
        /// The provider was called, and the call failed.
        case call
        /// The call was abandoned before the request's deadline, to leave time for another one.
        case givenUp
        /// The breaker is open: the provider was not called.
        case breakerOpen
        /// The provider requested a pause that outlasts the deadline: it was not called.
        case paused
        /// A limit could not let the call through in time: the provider was not called.
        case limited
        /// The request's deadlines left no time: the provider was not called.
        case noTime

        /// True if the provider must not be called for now, so that a request may be parked until it may.
        var isShut: Bool { self == .breakerOpen || self == .paused }
    }

    var error: SearchError
    var cause: Cause

    /// True for a failure that a later deadline might have prevented: a timeout, or a limit's refusal.
    var lacksTime: Bool {
        switch cause {
        case .breakerOpen, .givenUp: false
        case .paused, .limited: true
        case .call, .noTime:
            error.code == .timeout || error.code == .rateLimited || error.code == .expired
        }
    }

    /// Returns the failure to report when a retry was not granted. The failure of the earlier call is more useful than the
    /// refusal of its retry.
    @inline(never)
    func following(_ earlier: SearchError?) -> CallFailure {
        guard var error = earlier, cause == .limited || cause.isShut else { return self }
        error.message += " (not retried: \(self.error.message))"
        error.retryAfter = self.error.retryAfter
        return CallFailure(error: error, cause: cause)
    }
}
