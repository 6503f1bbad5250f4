internal import Basics
internal import LocationSearch
import Resilience

/// One HTTP call from its grant to its end.
///
/// A class, because as locals of async functions its values would take room in the frame of each for as long as the call
/// lasts. Belongs to one `ProviderCaller`.
final class Attempt {
    let query: ProviderQuery
    let followUp: FollowUpCall?
    var grant: Grant?
    var start: Instant
    /// The end of the call, answered or not.
    var deadline: Deadline
    /// True where that is before the request's deadline: the call is given up then.
    var isLimited = false
    /// True while a retry is set aside for the case that the call is given up.
    var holdsRetry = false

    init(_ query: ProviderQuery, followUp: FollowUpCall?, before deadline: Deadline, at now: Instant) {
        self.query = query
        self.followUp = followUp
        self.deadline = deadline
        start = now
    }

    /// Returns true where a timeout at this moment means that the call was given up. Timers may fire a little early.
    func isOver(at now: Instant) -> Bool {
        isLimited && now + .milliseconds(5) >= deadline.instant
    }

    /// Returns true for an end that comes so long after the deadline that this process stood still meanwhile: timers fire within
    /// milliseconds otherwise. The time that such a call took tells nothing about its provider.
    func endedAfterStandstill(at end: Instant) -> Bool {
        end >= deadline.instant + Self.longestOverrun
    }

    private static let longestOverrun: Duration = .seconds(1)
}
