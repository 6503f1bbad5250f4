import Basics
import Testing

@testable import WorkerRuntime

/// The conditions under which commits are overdue, and under which that is logged.
struct CommitPaceTests {
    private let start = Instant.now

    private func pace(_ interval: Duration = .seconds(1)) -> CommitPace { CommitPace(interval: interval, now: start) }

    /// There are two commits in an interval: one may be late by the time between them. The broker's answer takes longer than the
    /// shortest possible intervals.
    @Test(arguments: [
        (1000, 0, false), (1000, 500, false), (1000, 999, false), (1000, 1000, true), (1000, 5000, true),
        (10, 499, false), (10, 500, true),
    ])
    func `Commits are overdue after an interval and after half a second at least`(
        interval: Int, age: Int, isOverdue: Bool
    ) {
        let pace = pace(.milliseconds(interval))
        #expect(pace.isOverdue(at: start + .milliseconds(age)) == isOverdue)
        #expect(pace.pause == .milliseconds(interval) / 2)
    }

    /// Requests that finished during the commit are not part of it.
    @Test func `A commit counts from its beginning`() {
        var pace = pace()
        _ = pace.committed(since: start + .milliseconds(600))
        #expect(!pace.isOverdue(at: start + .milliseconds(1599)))
        #expect(pace.overdue(at: start + .milliseconds(1700)) == .milliseconds(100))
        // An earlier commit that is answered later changes nothing.
        _ = pace.committed(since: start + .milliseconds(100))
        #expect(pace.committedUpTo == start + .milliseconds(600))
    }

    @Test func `A failed commit changes nothing`() {
        var pace = pace()
        _ = pace.failed(at: start + .milliseconds(500))
        #expect(!pace.isOverdue(at: start + .milliseconds(999)))
        #expect(pace.isOverdue(at: start + .milliseconds(1000)))
    }

    /// Returns the announcements of `pace` at these times, in milliseconds, at which a commit fails or succeeds.
    private func announcements(_ commits: [(at: Int, succeeds: Bool)]) -> [Bool] {
        var pace = pace()
        return commits.map { commit in
            let now = start + .milliseconds(commit.at)
            return commit.succeeds ? pace.committed(since: now) : pace.failed(at: now)
        }
    }

    @Test func `A lasting failure and its end are logged once`() {
        let said = announcements([
            (1500, false), (2000, false), (2200, false), (2400, true), (2900, true),
            // The next failure is announced again.
            (4900, false), (5100, true),
        ])
        #expect(said == [false, true, false, true, false, true, true])
    }

    @Test func `A short failure is not logged`() {
        #expect(announcements([(1100, false), (1300, true)]) == [false, false])
    }

    /// Retried quickly, and never less often than without a failure.
    @Test(arguments: [(10, 5), (200, 100), (1000, 200), (60_000, 200)])
    func `A rejected commit is retried soon`(interval: Int, retry: Int) {
        #expect(pace(.milliseconds(interval)).retryPause == .milliseconds(retry))
    }
}
