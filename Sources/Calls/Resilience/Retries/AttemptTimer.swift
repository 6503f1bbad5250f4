/// Decides how much of a request's time one call may use, so that a hanging call leaves time for another one.
///
/// A call may take three times the 95th percentile of recent calls, and at least a second. Each abandoned call doubles
/// that, up to eight times, as in TCP's retransmission timer. So a provider that has become slow soon gets the time it
/// needs. Faster answers halve the factor again.
///
/// A call without an alternative may use all the time that is left. A plain value, to be used by one owner.
public struct AttemptTimer: Sendable {
    /// The source of a call's time limit.
    public enum Rule: Sendable, Hashable {
        /// The limit follows from the provider's recent latency.
        case adaptive
        /// The limit is the same for all calls, more than zero.
        case fixed(Duration)
    }

    /// The alternatives that a request still has if its call is abandoned.
    public enum OtherChance: Sendable, Hashable {
        case none
        /// The same provider can be called again.
        case retry
        /// Another provider can be asked.
        case nextProvider
    }

    /// The shortest time limit of a call: providers answer some requests from a cache and others from afar.
    private static let shortest: Duration = .seconds(1)
    private static let latencyFactor = 3
    private static let longestBackoff = 8
    /// With fewer answers, the latency is not known well enough to abandon a call that only a retry could replace.
    private static let enoughAnswers = 8
    /// The time that is left for the next provider, or half of the request's time if that is less.
    private static let leastForNextProvider: Duration = .seconds(1)

    private let rule: Rule
    private var latency = RecentLatency()
    private var backoff = 1

    public init(_ rule: Rule = .adaptive) { self.rule = rule }

    /// Returns how long a call that begins now may take; `nil` if it may use all the time that is left.
    /// - Parameter remaining: the time until the request's deadline.
    public func limit(within remaining: Duration, ifGivenUp other: OtherChance) -> Duration? {
        switch other {
        case .none: return nil
        case .retry: return limitBeforeRetry(within: remaining)
        case .nextProvider: return limitBeforeNextProvider(within: remaining)
        }
    }

    /// A call is abandoned for a retry only if the retry fits into the time after it.
    private func limitBeforeRetry(within remaining: Duration) -> Duration? {
        switch rule {
        case .fixed(let limit): return limit <= remaining * 4 / 5 ? limit : nil
        case .adaptive:
            guard latency.count >= Self.enoughAnswers, let high = latency.high else { return nil }
            let limit = usual(high) * backoff
            return limit + high <= remaining ? limit : nil
        }
    }

    /// The next provider always keeps at least a fifth of the time. Within the other four fifths, a slow provider gets the
    /// time in which nearly all its calls are answered.
    private func limitBeforeNextProvider(within remaining: Duration) -> Duration {
        let most = remaining * 4 / 5
        let mostLeavingRoom = min(most, remaining - min(remaining / 2, Self.leastForNextProvider))

        switch rule {
        case .fixed(let limit): return min(limit, most)
        case .adaptive:
            guard let high = latency.high else { return min(remaining / 2 * backoff, most) }
            return max(min(usual(high) * backoff, mostLeavingRoom), min(high, most))
        }
    }

    private func usual(_ high: Duration) -> Duration { max(Self.shortest, high * Self.latencyFactor) }

    /// Records a call that the provider answered.
    public mutating func noteAnswer(after duration: Duration) {
        if backoff > 1, let high = latency.high, latency.count >= Self.enoughAnswers, duration < usual(high) {
            backoff /= 2
        }
        latency.note(duration)
    }

    /// Records a call that was abandoned at its limit.
    public mutating func noteGivenUp() { backoff = min(Self.longestBackoff, backoff * 2) }

    /// Returns how much time a call must have had for its timeout to count against the provider.
    ///
    /// A client may allow less time than the provider usually needs, and such a timeout is the client's fault. If it
    /// counted against the provider, a few hasty clients would open its breaker for all others.
    /// - Parameter slowCallDuration: a call that takes this long always counts against the provider.
    public func conclusiveTimeout(slowCallDuration: Duration) -> Duration {
        let usual = (latency.high ?? .zero) * Self.latencyFactor
        return min(slowCallDuration, max(slowCallDuration / 5, usual))
    }
}
