internal import Basics

/// Decides when offsets are committed, and whether finished work has been uncommitted for too long.
///
/// A crash repeats all uncommitted work, including billed calls. The aim is to repeat at most one
/// `worker.commitInterval` of work, even while the brokers refuse commits or do not answer. Beyond that, commits are
/// overdue and no request begins. Two commits begin in each interval, so that one slow or refused commit makes no
/// difference.
struct CommitPace {
    /// The timeout of one commit, and the time for which commits must be overdue before that is logged. A rebalance is
    /// often shorter.
    static let timeout = Duration.seconds(1)

    /// The lower bound of `limit`. Even a healthy commit takes time, and a shorter interval must not pause intake for
    /// that.
    static let shortestLimit = Duration.milliseconds(500)

    let interval: Duration
    /// All work that finished before this time is committed.
    private(set) var committedUpTo: Instant
    private var isAnnounced = false

    init(interval: Duration, now: Instant) {
        self.interval = interval
        committedUpTo = now
    }

    /// The time from one commit to the next.
    var pause: Duration { interval / 2 }

    /// The time from a failed commit to the next.
    var retryPause: Duration { min(pause, .milliseconds(200)) }

    /// The longest time for which finished work may be uncommitted.
    var limit: Duration { max(interval, Self.shortestLimit) }

    func isOverdue(at now: Instant) -> Bool { now - committedUpTo >= limit }

    /// The time for which commits have been overdue; `nil` if they are not.
    func overdue(at now: Instant) -> Duration? { isOverdue(at: now) ? now - committedUpTo - limit : nil }

    /// Records a commit that succeeded, or had nothing to commit.
    /// - Parameter begin: the start of the commit; work that finished later is part of the next one.
    /// - Returns: whether an announced problem has ended.
    mutating func committed(since begin: Instant) -> Bool {
        committedUpTo = max(committedUpTo, begin)
        defer { isAnnounced = false }
        return isAnnounced
    }

    /// Records a failed commit.
    /// - Returns: whether the caller should log it: once, after commits have been overdue for `timeout`.
    mutating func failed(at now: Instant) -> Bool {
        guard !isAnnounced, let overdue = overdue(at: now), overdue >= Self.timeout else { return false }
        isAnnounced = true
        return true
    }
}
