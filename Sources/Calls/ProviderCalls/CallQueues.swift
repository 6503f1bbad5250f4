public import Basics
public import LocationSearch

/// The queues of calls to providers, as the intake sees them. The intake begins a request only while its provider's queue
/// is short. Longer waits happen in the intake, where requests can still be reordered.
///
/// All functions must be called on the actor to which the queues belong.
public protocol CallQueues {
    /// Returns whether a new call of the class to the provider would be granted soon.
    func hasShortLine(for requestClass: RequestClass, at provider: ProviderID) -> Bool

    /// Returns the number of calls per second that this loop may make to the provider; `nil` without a limit.
    func pace(of provider: ProviderID) -> Double?

    /// Records how many requests wait to begin at each provider. The numbers count towards this loop's demand for quota.
    func noteWaiting(_ waiting: [ProviderID: WaitingRequests])

    /// Calls `wake` whenever a queue has become shorter.
    func onShorterLine(_ wake: @escaping @Sendable () -> Void)
}

/// The number of requests that wait to begin.
public struct WaitingRequests: Sendable, Hashable {
    public var interactive = 0
    public var batch = 0
    /// The number of tenants with waiting requests. A tenant counts once per class.
    public var tenants = 0

    public init(interactive: Int = 0, batch: Int = 0, tenants: Int = 0) {
        self.interactive = interactive
        self.batch = batch
        self.tenants = tenants
    }
}
