import Basics
import Testing

@testable import WorkerRuntime

/// Detection of a group at rest, by the durations of a lane's commits.
struct GroupRestTests {
    private static let start = Instant(nanoseconds: 0)

    /// Reports commits that are answered after 10 ms, at regular intervals.
    private func commit(_ rest: inout GroupRest, from first: Duration, to last: Duration, every step: Duration) {
        var time = first
        while time <= last {
            answer(&rest, asked: time, after: .milliseconds(10))
            time += step
        }
    }

    private func answer(_ rest: inout GroupRest, asked: Duration, after delay: Duration, isCommitted: Bool = true) {
        rest.noteCommit(askedAt: Self.start + asked, isCommitted: isCommitted, at: Self.start + asked + delay)
    }

    @Test func `A group is at rest after a second of prompt commits`() {
        var rest = GroupRest()
        #expect(!rest.isReached(at: Self.start))
        commit(&rest, from: .zero, to: .milliseconds(750), every: .milliseconds(250))
        #expect(!rest.isReached(at: Self.start + .milliseconds(760)))
        answer(&rest, asked: .seconds(1), after: .milliseconds(10))
        #expect(rest.isReached(at: Self.start + .milliseconds(1010)))
        #expect(!rest.isReached(at: Self.start + .seconds(2)), "that was a while ago")
    }

    @Test(arguments: [(delay: Duration.milliseconds(501), isCommitted: true), (.milliseconds(10), false)])
    func `A slow or rejected commit begins the rest anew`(_ late: (delay: Duration, isCommitted: Bool)) {
        var rest = GroupRest()
        commit(&rest, from: .zero, to: .seconds(1), every: .milliseconds(250))
        answer(&rest, asked: .milliseconds(1250), after: late.delay, isCommitted: late.isCommitted)
        #expect(!rest.isReached(at: Self.start + .milliseconds(1260)))
        commit(&rest, from: .seconds(2), to: .milliseconds(2750), every: .milliseconds(250))
        #expect(!rest.isReached(at: Self.start + .milliseconds(2760)))
        answer(&rest, asked: .seconds(3), after: .milliseconds(10))
        #expect(rest.isReached(at: Self.start + .milliseconds(3010)))
    }

    @Test func `A time without commits is no rest`() {
        var rest = GroupRest()
        commit(&rest, from: .zero, to: .seconds(1), every: .milliseconds(250))
        answer(&rest, asked: .seconds(3), after: .milliseconds(10))
        #expect(!rest.isReached(at: Self.start + .milliseconds(3010)))
    }

    @Test func `After a vain wait the next one comes later`() {
        var rest = GroupRest()
        #expect(rest.isWorthWaiting(at: Self.start))
        let end = Self.start + .seconds(4)
        rest.postponeNextWait(since: Self.start, at: end)
        #expect(!rest.isWorthWaiting(at: end + .milliseconds(3900)))
        #expect(rest.isWorthWaiting(at: end + .seconds(4)))
    }
}
