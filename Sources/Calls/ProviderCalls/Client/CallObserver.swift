public import LocationSearch
public import QuotaSharing
public import Resilience

/// Receives events of a worker's calls, for logs and metrics. The closures are called on the worker's executor.
public struct CallObserver: Sendable {
    /// Called with each breaker's change of state and the failure that opened it.
    public var onTransition: @Sendable (ProviderID, CircuitBreaker.Transition, SearchError?) -> Void
    /// Called when a budget is used up, with the time until its next period, and with `nil` when calls are possible again.
    public var onBudget: @Sendable (Budget, Duration?) -> Void
    /// Called with the number of wasted calls. Such a call was abandoned before its deadline, or ended when no request
    /// waited for it.
    public var onWasted: @Sendable (ProviderID, Int) -> Void
    /// Called with the number of places of an answer that could not be read, and were left out.
    public var onUnreadable: @Sendable (ProviderID, Int) -> Void
    /// Called for each call that has ended, with its price class, end and duration.
    public var onCall: @Sendable (PriceClass, CallEnd, Duration) -> Void

    public init(
        onTransition: @escaping @Sendable (ProviderID, CircuitBreaker.Transition, SearchError?) -> Void = { _, _, _ in
        },
        onBudget: @escaping @Sendable (Budget, Duration?) -> Void = { _, _ in },
        onWasted: @escaping @Sendable (ProviderID, Int) -> Void = { _, _ in },
        onUnreadable: @escaping @Sendable (ProviderID, Int) -> Void = { _, _ in },
        onCall: @escaping @Sendable (PriceClass, CallEnd, Duration) -> Void = { _, _, _ in }
    ) {
        (self.onTransition, self.onBudget, self.onWasted, self.onCall) = (onTransition, onBudget, onWasted, onCall)
        self.onUnreadable = onUnreadable
    }
}
