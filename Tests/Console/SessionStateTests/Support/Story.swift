@testable import EventContract
@testable import LocationSearch
import SessionState

/// The events of a session, step by step: each request is sent a second after the previous one.
struct Story {
    private(set) var actions: [Action] = []
    private var seconds: Int64 = 0
    private var sent: [String: SearchRequest] = [:]

    /// The state after all events.
    var state: SessionState { SessionState(after: actions) }

    static func time(_ seconds: Int64) -> WallTime { WallTime(milliseconds: 1_700_000_000_000 + 1000 * seconds) }

    // MARK: Requests

    mutating func search(_ id: String, category: String = "restaurant", page token: String? = nil) {
        send(
            SearchRequest(
                requestID: id, category: category, location: .shinjuku, pageToken: token, sessionID: "session"))
    }

    mutating func details(_ id: String, of place: String, provider: ProviderChoice = .named(.hotpepper)) {
        send(
            SearchRequest(
                requestID: id, operation: .details, provider: provider, placeID: place, sessionID: "session"))
    }

    mutating func photo(_ id: String, of place: String) {
        send(
            SearchRequest(
                requestID: id, operation: .photo, provider: .named(.hotpepper), placeID: place, sessionID: "session"))
    }

    private mutating func send(_ request: SearchRequest) {
        seconds += 1
        sent[request.requestID] = request
        actions.append(.requested(request, at: Self.time(seconds)))
    }

    // MARK: Outcomes

    mutating func finds(
        _ id: String, _ places: [Place] = [], next: String? = nil, total: Int? = nil, credits: [String] = []
    ) {
        let search = SearchOutcome.Search(category: "restaurant", location: .shinjuku, radiusMeters: 2000)
        ends(
            id,
            .completed(
                SearchOutcome.Result(
                    places: Places(places), totalAvailable: total, nextPageToken: next, attributions: credits,
                    search: search)))
    }

    mutating func tells(_ id: String, _ place: Place, credits: [String] = []) {
        ends(id, .completed(SearchOutcome.Result(places: [place], attributions: credits)))
    }

    mutating func shows(_ id: String, picture url: String) {
        ends(id, .completed(SearchOutcome.Result(photoURL: url)))
    }

    mutating func fails(_ id: String, _ code: String, isRetryable: Bool = false, retryAfter: Duration? = nil) {
        ends(id, .failed(.init(code: code, message: "about \(id)", isRetryable: isRetryable, retryAfter: retryAfter)))
    }

    private mutating func ends(_ id: String, _ body: OutcomeEvent.Body) {
        actions.append(
            .outcome(
                OutcomeEvent(
                    requestID: id, operation: sent[id]?.operation.rawValue, provider: "hotpepper", sessionID: "session",
                    body: body, receivedAt: Self.time(seconds), completedAt: Self.time(seconds),
                    upstream: .milliseconds(80), attempts: 1)))
    }

    // MARK: Lost records

    /// Removes the last action, as if its record had been lost.
    mutating func losesLastAction() { actions.removeLast() }
}

extension SessionState {
    init(after actions: some Sequence<Action>) {
        self.init()
        for action in actions { Reducer.reduce(&self, action) }
    }
}

extension Coordinate {
    static let shinjuku = Coordinate(latitude: 35.690921, longitude: 139.700258)
}

extension Place {
    static func named(_ id: String, provider: ProviderID = .hotpepper, distance: Double? = 75) -> Place {
        Place(id: id, provider: provider, name: "name of \(id)", location: .shinjuku, distanceMeters: distance)
    }
}
