public import LocationSearch

/// Chooses the providers for a request: the one that the request names, or for `auto` all that can serve it, best first.
/// Only a provider's service knows what it can serve, and how well.
public struct ProviderSelection: Sendable {
    /// Each service in a separate array, so that a request that names its provider gets an existing array.
    private let services: [(id: ProviderID, candidates: [any PlaceService])]
    private let order: [ProviderID]

    /// - Parameter services: the configured ones (those with an API key).
    /// - Parameter order: `providers.order`, used for `auto`. A provider missing from it serves only requests that name it.
    public init(services: [any PlaceService], order: [ProviderID] = [.hotpepper, .googlePlaces]) {
        self.services = services.map { ($0.id, [$0]) }
        self.order = order
    }

    /// The configured providers.
    var configured: [ProviderID] { services.map(\.id) }

    /// Returns the providers for a request, best first.
    /// - Returns: at least one provider. Further ones are alternatives, in case one fails.
    /// - Throws: `unauthorized` if no suitable provider has a key, `invalid-request` if no configured provider can serve it.
    public func candidates(for request: SearchRequest) throws(SearchError) -> [any PlaceService] {
        switch request.provider {
        case .named(let id):
            guard let candidates = candidates(named: id) else { throw .noKey(of: id) }
            if let refusal = candidates.first?.refusal(of: request) { throw refusal }
            return candidates
        case .auto:
            return try alternatives(for: request)
        }
    }

    private func candidates(named id: ProviderID) -> [any PlaceService]? {
        services.first { $0.id == id }?.candidates
    }

    private func alternatives(for request: SearchRequest) throws(SearchError) -> [any PlaceService] {
        let configured = order.compactMap { candidates(named: $0)?.first }
        guard !configured.isEmpty else {
            throw SearchError(.unauthorized, "no provider has an API key in this worker's settings")
        }

        var refusals: [SearchError] = []
        var capable: [any PlaceService] = []
        for service in configured {
            if let refusal = service.refusal(of: request) {
                refusals.append(refusal)
            } else {
                capable.append(service)
            }
        }
        guard !capable.isEmpty else { throw Self.summary(of: refusals) }

        let chosen = Self.mostSuitable(of: capable, for: request)
        // A place id is valid only at the provider that issued it.
        return request.placeID != nil ? Array(chosen.prefix(1)) : chosen
    }

    /// Returns the services that suit the request best, in the given order.
    private static func mostSuitable(
        of services: [any PlaceService], for request: SearchRequest
    ) -> [any PlaceService] {
        let best = services.reduce(Suitability.unlikely) { max($0, $1.suitability(for: request)) }
        return services.filter { $0.suitability(for: request) == best }
    }

    /// Returns the first refusal, which comes from the best provider.
    private static func summary(of refusals: [SearchError]) -> SearchError {
        refusals.first ?? SearchError(.invalidRequest, "no configured provider can serve this request")
    }
}
