public import LocationSearch

/// A request, and who may serve it. A class, because it passes through many async frames, each of which then copies one
/// pointer.
public final class AddressedRequest: Sendable {
    /// The request as providers are asked: see `SearchRequest.addressedToProviders()`.
    public let request: SearchRequest
    /// At least one, best first. The next is asked when one fails for the moment.
    public let candidates: [any PlaceService]
    /// Until when the request is of use; `nil` where only its deadline counts.
    public let lifetime: RequestLifetime?

    /// Addresses a request.
    public init(_ request: SearchRequest, to candidates: [any PlaceService], lifetime: RequestLifetime? = nil) {
        self.request = request
        self.candidates = candidates
        self.lifetime = lifetime
    }
}
