internal import Basics

/// Decides when offsets are committed, and whether finished work has waited for that too long.
///
/// A crash repeats what is not committed, paid calls and all. That is to be no more than one `worker.commitInterval` of
/// work, however long the brokers refuse commits or do not answer: beyond it commits are overdue, and nothing new
/// begins. Commits begin twice in an interval, so that one that is slow, or refused once, makes no difference.
struct CommitPace {

    /// One commit may take this long, and commits that are overdue for as long are told in the log. A rebalance often takes
    /// less.
    static let timeout = Duration.seconds(1)

    /// A commit takes a while even where all is well; an interval of less must not keep work waiting for that.
    static let shortestLimit = Duration.milliseconds(500)

    let interval: Duration
    /// Everything that was finished by then is committed.
    private(set) var committedUpTo: Instant
    private var isAnnounced = false

    init(interval: Duration, now: Instant) {
        self.interval = interval
        committedUpTo = now
    }

    /// The time from one commit to the next.
    var pause: Duration { interval / 2 }

    /// The time from a refused commit to the next.
    var retryPause: Duration { min(pause, .milliseconds(200)) }

    /// How long finished work may be uncommitted.
    var limit: Duration { max(interval, Self.shortestLimit) }

    func isOverdue(at now: Instant) -> Bool { now - committedUpTo >= limit }

    /// The time for which commits are overdue; `nil` when they are not.
    func overdue(at now: Instant) -> Duration? { isOverdue(at: now) ? now - committedUpTo - limit : nil }

    /// A commit left nothing over, or found nothing to do.
    /// - Parameter begin: when it began: what finished later waits for the next.
    /// - Returns: whether that ends what was announced.
    mutating func committed(since begin: Instant) -> Bool {
        committedUpTo = max(committedUpTo, begin)
        defer { isAnnounced = false }
        return isAnnounced
    }

    /// A commit failed.
    /// - Returns: whether that is to be announced: once, when commits have been overdue for a while.
    mutating func failed(at now: Instant) -> Bool {
        guard !isAnnounced, let overdue = overdue(at: now), overdue >= Self.timeout else { return false }
        isAnnounced = true
        return true
    }
}
