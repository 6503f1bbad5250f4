/// Chooses who is asked: the provider that the request names, or for `auto` every one that can serve it, best first.
public struct ProviderSelection: Sendable {
    private let services: [ProviderID: any PlaceService]
    private let order: [ProviderID]

    /// - Parameter services: the configured ones (those with an API key).
    /// - Parameter order: `providers.order`, for `auto`; providers that are not in it serve only who names them.
    public init(services: [any PlaceService], order: [ProviderID] = [.hotpepper, .googlePlaces]) {
        self.services = Dictionary(services.map { ($0.id, $0) }) { first, _ in first }
        self.order = order
    }

    /// - Returns: at least one provider. More than one are alternatives: the next may be asked when one fails.
    /// - Throws: `unauthorized` when no suitable provider has a key, `invalid-request` when none that has can serve it.
    public func candidates(for request: SearchRequest) throws(SearchError) -> [any PlaceService] {
        switch request.provider {
        case .named(let id):
            guard let service = services[id] else {
                throw SearchError(.unauthorized, "\(id.rawValue) has no API key in this worker's settings")
            }
            if let refusal = service.refusal(of: request) { throw refusal }
            return [service]
        case .auto:
            return try alternatives(for: request)
        }
    }

    private func alternatives(for request: SearchRequest) throws(SearchError) -> [any PlaceService] {
        let configured = order.compactMap { services[$0] }
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
        let suitable = capable.filter { Self.isSuitable($0.id, for: request) }
        let chosen = suitable.isEmpty ? capable : suitable
        guard !chosen.isEmpty else { throw Self.summary(of: refusals) }
        // An id is one provider's own: nobody else could make sense of it.
        return request.placeID != nil ? Array(chosen.prefix(1)) : chosen
    }

    /// Hot Pepper knows Japan only: asked elsewhere it finds nothing, which would look like an answer.
    private static func isSuitable(_ id: ProviderID, for request: SearchRequest) -> Bool {
        switch (id, request.operation) {
        case (.hotpepper, .search): request.location.map(Japan.contains) ?? false
        case (.hotpepper, .details), (.hotpepper, .photo): isHotpepperID(request.placeID)
        case (_, .details), (_, .photo): !isHotpepperID(request.placeID)
        default: true
        }
    }

    /// Hot Pepper's shop ids: `J` and 9 digits (its reference's examples and every recording seen).
    private static func isHotpepperID(_ id: String?) -> Bool {
        guard let id = id?.utf8, id.count == 10, id.first == UInt8(ascii: "J") else { return false }
        return id.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The refusal itself where there is one; with several, the first says what is wrong with the request.
    private static func summary(of refusals: [SearchError]) -> SearchError {
        refusals.first ?? SearchError(.invalidRequest, "no configured provider can serve this request")
    }
}
