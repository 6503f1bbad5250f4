public import Basics
internal import LocationSearch

/// The moments up to which a request is of use, whatever it waits for.
///
/// A deadline says how long a request may be worked on, and `whenOpen=hold` extends it by the time for which the request is
/// parked. These moments are never extended.
public struct RequestLifetime: Sendable, Hashable {
    /// The request's first call, and each retry, begins before this moment: `worker.maxAge` and `expirytime`.
    public var lastCall: Instant
    /// The end of every call: `expirytime`. `nil` where the request has none.
    public var expiry: Instant?

    /// A request that is of use until then.
    public init(lastCall: Instant, expiry: Instant? = nil) {
        self.lastCall = lastCall
        self.expiry = expiry
    }
}

extension SearchError {
    /// The end of a request that was parked for longer than it was of use.
    static func overWhileWaiting(for provider: ProviderID) -> SearchError {
        SearchError(
            .expired,
            "the request reached worker.maxAge or its expirytime while it waited until \(provider.rawValue) may be asked; if its answer is still wanted, make a new request"
        )
    }
}
