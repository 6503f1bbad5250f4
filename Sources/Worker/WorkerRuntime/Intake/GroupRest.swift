internal import Basics

/// Tells by the answers to a lane's commits whether its group is at rest.
///
/// While a group forms, brokers refuse a commit or answer it when the group has formed. A group that has just formed often forms anew
/// within a second, because its members come one after another.
struct GroupRest {
    /// The group is at rest once it has taken commits at once for this long.
    static let neededTime = Duration.seconds(1)
    /// A commit that takes longer has waited for the group. At rest it takes a round trip.
    static let promptCommit = Duration.milliseconds(500)
    /// The longest wait for a group to come to rest.
    static let longestWait = Duration.seconds(10)

    private var restsSince: Instant?
    private var lastPrompt: Instant?
    private var nextWait: Instant?

    /// Notes how a commit ended.
    /// - Parameter isCommitted: `false` for one that was refused, or not answered in time.
    mutating func noteCommit(askedAt asked: Instant, isCommitted: Bool, at now: Instant) {
        guard isCommitted, asked.duration(to: now) <= Self.promptCommit else { return restsSince = nil }

        // Nothing is known of a time without commits.
        if let last = lastPrompt, last.duration(to: asked) > Self.neededTime { restsSince = nil }
        restsSince = restsSince ?? asked
        lastPrompt = now
    }

    /// True where the last commits say that the group is at rest.
    func isReached(at now: Instant) -> Bool {
        guard let since = restsSince, let last = lastPrompt else { return false }
        return last - since >= Self.neededTime && last.duration(to: now) <= Self.promptCommit
    }

    /// True unless a wait was in vain a short while ago.
    func isWorthWaiting(at now: Instant) -> Bool { nextWait.map { now >= $0 } ?? true }

    /// Notes that a wait has ended before the group was at rest. The next one may follow after as long again, so that a group that never
    /// rests holds a lane up for half of its time at most, and one whose partition has soon gone to another member hardly.
    mutating func noteVainWait(since start: Instant, at now: Instant) { nextWait = now + (now - start) }
}
