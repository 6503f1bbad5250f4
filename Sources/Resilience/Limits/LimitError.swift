/// Why a limiter did not let a call through.
public enum LimitError: Error, Hashable, Sendable {
    /// The call's turn would come too late for its deadline. Thrown at once, not when the deadline passes.
    ///
    /// `retryAfter` is the time from now until a turn is to be had; `nil` when that is not known.
    case tooLate(retryAfter: Duration?)
    /// The waiting task was cancelled.
    case cancelled
}
