import Basics
internal import LocationSearch
import Resilience

/// One request to one provider. A class, so that passing it through async frames copies one pointer.
///
/// Two queries are equal if the same calls serve both. Everything sent to the provider counts, and so does whether an
/// alternative provider exists. The client and its time limits do not count.
final class ProviderQuery: Sendable, Hashable {
    let service: any PlaceService
    private let addressed: AddressedRequest
    /// True if another provider can be tried when this one fails.
    let hasAlternative: Bool
    /// The hash of the members that differ most between requests. Computed once, because each look-up needs it.
    private let fingerprint: Int

    init(_ addressed: AddressedRequest, to service: any PlaceService, hasAlternative: Bool) {
        self.service = service
        self.addressed = addressed
        self.hasAlternative = hasAlternative
        fingerprint = Self.fingerprint(of: addressed)
    }

    var request: SearchRequest { addressed.request }

    /// The context in which the request's calls are recorded; `nil` if none are recorded.
    var context: RequestContext? { addressed.context }

    /// The class and tenant under which the request's calls wait.
    var flow: Flow { context?.flow ?? .standard }

    /// The latest start of a call for the request; `nil` if only its deadline counts.
    var lastCall: Instant? { addressed.lifetime?.lastCall }

    /// Returns whether it is too late to begin a call for the request.
    func isOver(at now: Instant) -> Bool { lastCall.map { $0 <= now } ?? false }

    /// Returns whether calls for this request may begin later than calls for the other one.
    func mayCallLater(than other: ProviderQuery) -> Bool {
        guard let othersLast = other.lastCall else { return false }
        return lastCall.map { $0 > othersLast } ?? true
    }

    /// Returns the deadline, extended by the time for which the request was parked, but not beyond its expiry.
    func extended(_ deadline: Deadline, by waited: Duration) -> Deadline {
        let extended = deadline.instant + waited
        return Deadline(addressed.lifetime?.expiry.map { min($0, extended) } ?? extended)
    }

    /// Returns the price class by which the provider charges a call.
    ///
    /// Asked of the query, because calling the service directly would copy the request.
    @inline(never)
    func priceClass(followUp: FollowUpCall?) -> PriceClass { service.priceClass(of: request, followUp: followUp) }

    private static func fingerprint(of addressed: AddressedRequest) -> Int {
        var hasher = Hasher()
        hasher.combine(addressed.request.location)
        if let id = addressed.request.placeID { hasher.combine(bytesOf: id) }
        if let keyword = addressed.request.keyword { hasher.combine(bytesOf: keyword) }
        if let token = addressed.request.pageToken { hasher.combine(bytesOf: token) }
        return hasher.finalize()
    }

    static func == (a: ProviderQuery, b: ProviderQuery) -> Bool {
        a === b
            || (a.service.id == b.service.id && a.hasAlternative == b.hasAlternative
                && a.request.asksTheSame(as: b.request))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}

extension SearchRequest {
    /// Compares members one by one, most distinctive first, because copying either request costs more.
    fileprivate func asksTheSame(as other: SearchRequest) -> Bool {
        location == other.location && radiusMeters == other.radiusMeters && operation == other.operation
            && limit == other.limit && openNow == other.openNow
            && category.isSpelt(as: other.category) && keyword.isSpelt(as: other.keyword)
            && language.isSpelt(as: other.language) && pageToken.isSpelt(as: other.pageToken)
            && placeID.isSpelt(as: other.placeID)
    }
}

extension Optional<String> {
    fileprivate func isSpelt(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let text?, let other?): text.isSpelt(as: other)
        default: false
        }
    }
}
