internal import Basics
import QuotaSharing
import Resilience

/// One HTTP call from its admission to its end.
///
/// A class, which everything that an attempt knows lives in: as locals of async functions, its twenty values would have room in
/// the frame of each for as long as the call takes. Belongs to one `ProviderGuard`.
final class Attempt {
    let inquiry: Inquiry
    let followUp: FollowUpCall?
    var admitted: AdmittedCall?
    /// False while the call waits for room.
    var hasSlot = false
    /// The call's part of the daily budget; `nil` for a provider without one.
    var budgetPermit: BudgetGate.Permit?
    var start: Instant
    /// When the call is over, answered or not.
    var deadline: Deadline
    /// Whether that is before the request's deadline, so that the call is given up.
    var isLimited = false
    /// Whether a retry is set aside for the case that the call is given up.
    var holdsRetry = false

    init(_ inquiry: Inquiry, followUp: FollowUpCall?, before deadline: Deadline, at now: Instant) {
        self.inquiry = inquiry
        self.followUp = followUp
        self.deadline = deadline
        start = now
    }

    /// Whether a timeout at this moment means that the call was given up. Timers may fire a little early.
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
