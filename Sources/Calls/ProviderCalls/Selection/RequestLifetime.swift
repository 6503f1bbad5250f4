public import Basics
internal import LocationSearch

/// The times after which a request is useless, whatever it waits for.
///
/// A deadline limits how long a request may be processed, and `whenOpen=hold` extends it by the parked time. These times
/// are never extended.
public struct RequestLifetime: Sendable, Hashable {
    /// The request's first call and each retry begin before this time: `worker.maxAge` and `expirytime`.
    public var lastCall: Instant
    /// The end of every call: `expirytime`. `nil` if the request has none.
    public var expiry: Instant?

    public init(lastCall: Instant, expiry: Instant? = nil) {
        self.lastCall = lastCall
        self.expiry = expiry
    }
}

extension SearchError {
    /// The failure of a request that was parked until the end of its lifetime.
    static func overWhileWaiting(for provider: ProviderID) -> SearchError {
        SearchError(
            .expired,
            "the request reached worker.maxAge or its expirytime while calls to \(provider.rawValue) were paused; send a new request if the result is still needed"
        )
    }
}
