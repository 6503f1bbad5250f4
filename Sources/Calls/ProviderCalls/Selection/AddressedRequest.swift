public import LocationSearch

/// A request, and the providers that may serve it. A class, because it passes through many async frames, each of which then
/// copies one pointer.
public final class AddressedRequest: Sendable {
    /// The request as providers are asked: see `SearchRequest.addressedToProviders()`.
    public let request: SearchRequest
    /// At least one, best first. The next is asked when one fails for the moment.
    public let candidates: [any PlaceService]
    /// The moments up to which the request is of use; `nil` where only its deadline counts.
    public let lifetime: RequestLifetime?
    /// Notes the calls for the request; `nil` where none are noted.
    public let context: RequestContext?

    /// Addresses a request.
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
