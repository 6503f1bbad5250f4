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
