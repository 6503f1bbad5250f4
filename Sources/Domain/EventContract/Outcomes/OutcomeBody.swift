import JSON
import LocationSearch

/// The known members of an outcome event's value.
struct OutcomeBody {
    private(set) var requestID: String?
    private(set) var operation: String?
    private(set) var provider: String?
    private(set) var triedProviders: [String] = []
    private(set) var sessionID: String?
    private(set) var receivedAt: WallTime?
    private(set) var completedAt: WallTime?
    private(set) var upstreamMilliseconds: Int?
    private(set) var attempts: Int?
    private(set) var unreadablePlaces = 0
    private var result = SearchOutcome.Result()
    private var failure: OutcomeEvent.Failure?

    /// Returns the result or the error.
    /// - Parameter type: the type of the event; without one, the presence of a member `error` decides.
    func outcome(type: String?) throws(UnreadableOutcome) -> OutcomeEvent.Body {
        switch type.map(EventType.init) {
        case .some(.completed): return .completed(result)
        case .some(.failed):
            guard let failure else { throw UnreadableOutcome(message: "error is missing") }
            return .failed(failure)
        case .none: return failure.map { .failed($0) } ?? .completed(result)
        case .some: throw UnreadableOutcome(message: "ce_type is not an outcome type")
        }
    }

    /// Reads the members of an object.
    /// - Returns: `false` if the value is not an object.
    mutating func read(from reader: inout JSONReader) throws(JSONError) -> Bool {
        guard try reader.enterObject() else { return false }
        while let key = try reader.nextKey() {
            switch key {
            case "requestId": requestID = try reader.string()
            case "operation": operation = try reader.string()
            case "provider": provider = try reader.string()
            case "triedProviders": triedProviders = try reader.strings()
            case "sessionId": sessionID = try reader.string()
            case "places": try readPlaces(&reader)
            case "photo": try readPhoto(&reader)
            case "totalAvailable": result.totalAvailable = try reader.int()
            case "nextPageToken": result.nextPageToken = try reader.string()
            case "attributions": result.attributions = try reader.strings()
            case "search": result.search = try reader.search()
            case "error": failure = try reader.failure()
            case "timing": try readTiming(&reader)
            default: try reader.skip()
            }
        }
        return true
    }

    private mutating func readPlaces(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterArray() else { return }
        while try reader.nextElement() {
            if let place = try reader.place() {
                result.places.append(place)
            } else {
                unreadablePlaces += 1
            }
        }
    }

    private mutating func readPhoto(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            switch key {
            case "imageURL": result.photoURL = try reader.string()
            default: try reader.skip()
            }
        }
    }

    private mutating func readTiming(_ reader: inout JSONReader) throws(JSONError) {
        guard try reader.enterObject() else { return }
        while let key = try reader.nextKey() {
            switch key {
            case "receivedAt": receivedAt = try reader.time()
            case "completedAt": completedAt = try reader.time()
            case "upstreamMs": upstreamMilliseconds = try reader.int()
            case "attempts": attempts = try reader.int()
            default: try reader.skip()
            }
        }
    }
}
