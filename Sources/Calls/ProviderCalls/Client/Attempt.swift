internal import Basics
internal import LocationSearch
import Resilience

/// One HTTP call from its grant to its end. Part of its `SharedCall`.
struct Attempt: ~Copyable {
    var grant: Grant?
    var start: Instant
    /// The latest end of the call.
    var deadline: Deadline
    /// True if `deadline` is earlier than the request's deadline. The call is then abandoned at `deadline`.
    var isLimited = false
    /// True while one retry is reserved in the retry budget, to be used if the call is abandoned.
    var holdsRetry = false

    init(before deadline: Deadline, at now: Instant) {
        self.deadline = deadline
        start = now
    }

    /// Returns whether a timeout at this time means that the call was abandoned. Allows for timers that fire a little early.
    func isOver(at now: Instant) -> Bool {
        isLimited && now + .milliseconds(5) >= deadline.instant
    }

    /// Returns whether the call ended so long after its deadline that this process must have been suspended. Timers
    /// otherwise fire within milliseconds. The duration of such a call is no measure of the provider.
    func endedAfterStandstill(at end: Instant) -> Bool {
        end >= deadline.instant + Self.longestOverrun
    }

    private static var longestOverrun: Duration { .seconds(1) }
}
