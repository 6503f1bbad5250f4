/// One request to one provider. An object, for it goes from task to task by way of many frames.
///
/// Two are equal when one call serves both: everything the provider is asked counts, nothing of who asks or how long.
final class Inquiry: Sendable, Hashable {
    let service: any PlaceService
    let request: SearchRequest
    /// Of whoever makes the call.
    let note: CallNote?

    init(_ service: any PlaceService, _ request: SearchRequest, note: CallNote?) {
        self.service = service
        self.request = request
        self.note = note
    }

    static func == (a: Inquiry, b: Inquiry) -> Bool {
        a === b || (a.service.id == b.service.id && a.request.asksTheSame(as: b.request))
    }

    /// What tells most requests apart.
    func hash(into hasher: inout Hasher) {
        hasher.combine(request.location)
        hasher.combine(request.placeID)
        hasher.combine(request.keyword)
        hasher.combine(request.pageToken)
    }
}

extension SearchRequest {
    /// Member by member, for a copy of either costs more; what differs most often first.
    fileprivate func asksTheSame(as other: SearchRequest) -> Bool {
        location == other.location && radiusMeters == other.radiusMeters && operation == other.operation
            && limit == other.limit && openNow == other.openNow && category == other.category
            && keyword == other.keyword && language == other.language && pageToken == other.pageToken
            && placeID == other.placeID
    }
}
