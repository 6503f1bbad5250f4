/// Why a limiter did not let a request through.
public enum Refusal: Error, Hashable, Sendable {
    /// Its turn would come too late for its deadline. Said at once, not when the deadline is there.
    /// `retryAfter`: when a turn is to be had, from now; `nil`: nobody knows.
    case tooLate(retryAfter: Duration?)
    /// The waiting task was cancelled.
    case cancelled
}
