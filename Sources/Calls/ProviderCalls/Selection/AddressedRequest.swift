public import Basics
public import LocationSearch

/// A request and its candidate providers. A class, because it passes through many async frames, each of which then copies one pointer.
public final class AddressedRequest: Sendable {
    /// The request in the form in which providers receive it: see `SearchRequest.addressedToProviders()`.
    public let request: SearchRequest
    /// At least one provider, best first. The next one is tried if one fails temporarily.
    public let candidates: [any PlaceService]
    /// The times after which the request is useless; `nil` if only its deadline counts.
    public let lifetime: RequestLifetime?
    /// Records the calls for the request; `nil` if none are recorded.
    public let context: RequestContext?

    public init(
        _ request: SearchRequest, to candidates: [any PlaceService], lifetime: RequestLifetime? = nil,
        context: RequestContext? = nil
    ) {
        self.request = request
        self.candidates = candidates
        self.lifetime = lifetime
        self.context = context
    }
}

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
