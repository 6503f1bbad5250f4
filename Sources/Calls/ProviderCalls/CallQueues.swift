public import Basics
public import LocationSearch

/// The queues of calls to providers, as the intake sees them. The intake begins a request only while its provider's queue
/// is short. Longer waits happen in the intake, where requests can still be reordered.
///
/// All functions must be called on the actor to which the queues belong.
public protocol CallQueues {
    /// Returns the calls among which the first call for a request will wait.
    func line(of request: SearchRequest, at service: any PlaceService) -> CallLine

    /// Returns whether a new call of the class in the line would be granted soon.
    func hasShortLine(for requestClass: RequestClass, in line: CallLine) -> Bool

    /// Returns the number of calls per second that this loop may make from the line; `nil` without a limit.
    func pace(of line: CallLine) -> Double?

    /// Records how many requests wait to begin in each line. The numbers count towards this loop's demand for quota.
    func noteWaiting(_ waiting: [CallLine: WaitingRequests])

    /// Calls `wake` whenever a queue has become shorter.
    func onShorterLine(_ wake: @escaping @Sendable () -> Void)
}

/// The calls of one provider that have the same limits.
public struct CallLine: Sendable, Hashable {
    public let provider: ProviderID
    /// The number of the provider's group of calls; `nil`: all of them.
    public let group: Int?

    public init(_ provider: ProviderID, group: Int? = nil) {
        self.provider = provider
        self.group = group
    }
}

/// The number of requests that wait to begin.
public struct WaitingRequests: Sendable, Hashable {
    public var interactive = 0
    public var batch = 0
    /// The number of tenants with waiting requests. A tenant counts once per class.
    public var tenants = 0

    public init(interactive: Int = 0, batch: Int = 0, tenants: Int = 0) {
        (self.interactive, self.batch, self.tenants) = (interactive, batch, tenants)
    }

    public static func += (sum: inout WaitingRequests, more: WaitingRequests) {
        sum.interactive += more.interactive
        sum.batch += more.batch
        sum.tenants += more.tenants
    }
}
