internal import Basics

/// Determines from the results of a lane's commits whether its group is stable.
///
/// During a rebalance, brokers refuse commits or answer them after it. Another rebalance often follows within a second,
/// because members join one after another.
struct GroupRest {
    /// The group is stable once it has accepted commits promptly for this long.
    static let neededTime = Duration.seconds(1)
    /// A commit that takes longer has waited for a rebalance. In a stable group it takes one round trip.
    static let promptCommit = Duration.milliseconds(500)
    /// The longest wait for a stable group.
    static let longestWait = Duration.seconds(10)

    private var restsSince: Instant?
    private var lastPrompt: Instant?
    private var nextWait: Instant?

    /// Records the result of a commit.
    /// - Parameter isCommitted: `false` if the commit was refused, or not answered in time.
    mutating func noteCommit(askedAt asked: Instant, isCommitted: Bool, at now: Instant) {
        guard isCommitted, asked.duration(to: now) <= Self.promptCommit else { return restsSince = nil }

        // The state of the group is unknown for a period without commits.
        if let last = lastPrompt, last.duration(to: asked) > Self.neededTime { restsSince = nil }
        restsSince = restsSince ?? asked
        lastPrompt = now
    }

    /// True if the last commits show that the group is stable.
    func isReached(at now: Instant) -> Bool {
        guard let since = restsSince, let last = lastPrompt else { return false }
        return last - since >= Self.neededTime && last.duration(to: now) <= Self.promptCommit
    }

    /// True unless a wait has failed recently.
    func isWorthWaiting(at now: Instant) -> Bool { nextWait.map { now >= $0 } ?? true }

    /// Records a wait that ended before the group was stable. The next wait is allowed after the same time again. A
    /// group that is never stable thus delays a lane for at most half of its time, and hardly if its partition is soon
    /// reassigned.
    mutating func postponeNextWait(since start: Instant, at now: Instant) { nextWait = now + (now - start) }
}
