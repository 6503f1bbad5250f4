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

    private var identity: SearchRequest {
        var identity = request
        identity.requestID = ""
        identity.sessionID = nil
        identity.timeout = nil
        identity.provider = .named(service.id)
        return identity
    }

    static func == (a: Inquiry, b: Inquiry) -> Bool { a === b || a.identity == b.identity }

    /// What tells most requests apart.
    func hash(into hasher: inout Hasher) {
        hasher.combine(request.location)
        hasher.combine(request.placeID)
        hasher.combine(request.keyword)
        hasher.combine(request.pageToken)
    }
}
