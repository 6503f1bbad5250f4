/// When a failed attempt is followed by another, and how long after. A plain value: no clock, no state.
package struct RetryPolicy: Sendable, Hashable {
    /// Attempts in all, at least 1.
    package var maxAttempts = 3
    /// Upper bound of the first wait; it doubles with each attempt. AWS's and Google's clients start between 50 ms and
    /// 1 s; a deadline of 5 s leaves room for two waits of this size.
    package var baseDelay: Duration = .milliseconds(100)
    /// Upper bound of any wait.
    package var maxDelay: Duration = .seconds(2)

    package init() {}

    /// The wait before the next attempt; `nil`: give up.
    /// - Parameter attempt: how many were made, 1 or more.
    /// - Parameter retryAfter: what the provider asked for; never undercut.
    /// - Parameter remaining: until the deadline. A wait that leaves nothing of it is not worth starting.
    package func delay(
        after attempt: Int, retryAfter: Duration?, remaining: Duration, using random: inout some RandomNumberGenerator
    ) -> Duration? {
        guard remaining > .zero, attempt < maxAttempts else { return nil }
        let ceiling = min(maxDelay, baseDelay * (1 << min(attempt - 1, 20)))
        // Full jitter: anything from nothing to the ceiling, so that workers that failed together do not return together.
        let jittered = ceiling * Double.random(in: 0..<1, using: &random)
        let delay = max(jittered, retryAfter ?? .zero)
        return delay < remaining ? delay : nil
    }
}
