/// Decides how much of a request's time one call may spend, so that a call that hangs leaves time for another one.
///
/// A call may take three times as long as 95 of 100 recent calls did, and at least a second. Each call that is given up
/// doubles that, up to eight times, as TCP does with its retransmission timer: a provider that has become slow is soon
/// given the time it needs. Answers that come sooner take the doubling back.
///
/// A call that is a request's last chance has all the time that is left. A plain value; its owner calls it.
public struct AttemptTimer: Sendable {
    /// `providers.<name>.attemptTimeout`: where the time of a call comes from.
    public enum Rule: Sendable, Hashable {
        /// The bound follows from the provider's recent latency.
        case adaptive
        /// The bound is as configured, more than zero.
        case fixed(Duration)
        /// A call may take all the time that its request has.
        case unlimited
    }

    /// The remedies that a request still has when the call is given up.
    public enum OtherChance: Sendable, Hashable {
        case none
        /// The same provider can be called again.
        case retry
        /// Another provider can be asked.
        case nextProvider
    }

    /// No call is given up sooner: providers answer some requests from a cache and others from afar.
    private static let shortest: Duration = .seconds(1)
    private static let latencyFactor = 3
    private static let longestBackoff = 8
    /// The answers below which the latency is not known well enough to give up a call that only a retry could replace.
    private static let enoughAnswers = 8
    /// The next provider has at least this much, or half of the request's time where that is less.
    private static let leastForNextProvider: Duration = .seconds(1)

    private let rule: Rule
    private var latency = RecentLatency()
    private var backoff = 1

    public init(_ rule: Rule = .adaptive) { self.rule = rule }

    /// Returns how long a call that begins now may take; `nil` when it may use all the time that is left.
    /// - Parameter remaining: the time until the request's deadline.
    public func limit(within remaining: Duration, ifGivenUp other: OtherChance) -> Duration? {
        if other == .none || rule == .unlimited { return nil }

        switch other {
        case .none: return nil
        case .retry: return limitBeforeRetry(within: remaining)
        case .nextProvider: return limitBeforeNextProvider(within: remaining)
        }
    }

    /// A retry is worth giving up a call for only when it fits behind it.
    private func limitBeforeRetry(within remaining: Duration) -> Duration? {
        switch rule {
        case .unlimited: return nil
        case .fixed(let limit): return limit <= remaining * 4 / 5 ? limit : nil
        case .adaptive:
            guard latency.count >= Self.enoughAnswers, let high = latency.high else { return nil }
            let limit = usual(high) * backoff
            return limit + high <= remaining ? limit : nil
        }
    }

    /// Another provider always gets its turn: a fifth of the time at least. Within the other four fifths, a provider that
    /// is slow but answers is given what nearly all its calls take.
    private func limitBeforeNextProvider(within remaining: Duration) -> Duration {
        let most = remaining * 4 / 5
        let mostLeavingRoom = min(most, remaining - min(remaining / 2, Self.leastForNextProvider))

        switch rule {
        case .unlimited: return most
        case .fixed(let limit): return min(limit, most)
        case .adaptive:
            guard let high = latency.high else { return min(remaining / 2 * backoff, most) }
            return max(min(usual(high) * backoff, mostLeavingRoom), min(high, most))
        }
    }

    private func usual(_ high: Duration) -> Duration { max(Self.shortest, high * Self.latencyFactor) }

    /// Notes a call that the provider answered.
    public mutating func noteAnswer(after duration: Duration) {
        if backoff > 1, let high = latency.high, latency.count >= Self.enoughAnswers, duration < usual(high) {
            backoff /= 2
        }
        latency.note(duration)
    }

    /// Notes a call that was given up at its limit.
    public mutating func noteGivenUp() { backoff = min(Self.longestBackoff, backoff * 2) }

    /// Returns how long a call must have had for its timeout to say something about the provider.
    ///
    /// A client may allow less time than the provider usually needs. Such a timeout is the client's doing; counted against
    /// the provider, a few hasty clients would open its breaker for all the others.
    /// - Parameter slowCallDuration: a call that takes as long is the provider's fault in any case.
    public func tellingTimeout(slowCallDuration: Duration) -> Duration {
        let usual = (latency.high ?? .zero) * Self.latencyFactor
        return min(slowCallDuration, max(slowCallDuration / 5, usual))
    }
}
