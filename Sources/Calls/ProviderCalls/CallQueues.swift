public import Basics
public import LocationSearch

/// The lines in which calls to providers wait, as the intake sees them: while they are short, requests wait where they can still be
/// put in order.
///
/// Every function is to be called on the executor of the worker whose lines they are.
public protocol CallQueues: Sendable {
    /// Returns whether a call of the class to the provider would have its turn soon.
    nonisolated func hasShortLine(for requestClass: RequestClass, at provider: ProviderID) -> Bool

    /// Returns the calls a second that this loop may make to the provider; `nil` where it has no limit.
    nonisolated func pace(of provider: ProviderID) -> Double?

    /// Takes note of the requests that wait to begin and would be asked of each provider, for the loop's demand.
    nonisolated func noteWaiting(_ waiting: [ProviderID: WaitingRequests])

    /// Has `wake` called when a line has become shorter.
    nonisolated func onShorterLine(_ wake: @escaping @Sendable () -> Void)
}

/// How many requests wait to begin.
public struct WaitingRequests: Sendable, Hashable {
    public var interactive = 0
    public var batch = 0
    /// The number of tenants, each counted once for a class.
    public var tenants = 0

    public init(interactive: Int = 0, batch: Int = 0, tenants: Int = 0) {
        self.interactive = interactive
        self.batch = batch
        self.tenants = tenants
    }
}

extension SearchWorker: CallQueues {
    public nonisolated func hasShortLine(for requestClass: RequestClass, at provider: ProviderID) -> Bool {
        assumeIsolated { $0.client(of: provider).hasShortLine(for: requestClass) }
    }

    public nonisolated func pace(of provider: ProviderID) -> Double? {
        assumeIsolated { $0.client(of: provider).pace }
    }

    public nonisolated func noteWaiting(_ waiting: [ProviderID: WaitingRequests]) {
        assumeIsolated { $0.takeNote(of: waiting) }
    }

    public nonisolated func onShorterLine(_ wake: @escaping @Sendable () -> Void) {
        assumeIsolated { $0.follow(wake) }
    }
}
