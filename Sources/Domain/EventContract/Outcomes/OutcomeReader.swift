import JSON
import LocationSearch

/// Reads outcome events, for clients that follow their requests. It is lenient: missing members are `nil`. Safe to use from any thread.
public struct OutcomeReader: Sendable {
    /// Makes a reader, which has no state.
    public init() {}

    /// Reads one record of the results or errors topic.
    /// - Throws: the reason if the record is not an outcome event.
    public func read(value: [UInt8]?, headers: [RecordHeader]) throws(UnreadableOutcome) -> OutcomeEvent {
        guard let value else { throw UnreadableOutcome(message: "the record has no value") }

        var body = OutcomeBody()
        let isObject: Bool
        do throws(JSONError) {
            var reader = JSONReader(value.span)
            isObject = try body.read(from: &reader)
            try reader.finish()
        } catch {
            throw UnreadableOutcome(message: "the value is not JSON: \(error)")
        }

        guard isObject else { throw UnreadableOutcome(message: "the value is not a JSON object") }
        guard let requestID = body.requestID else { throw UnreadableOutcome(message: "requestId is missing") }

        var event = body.event
        event.requestID = requestID
        event.body = try body.outcome(type: headers.last(named: "ce_type")?.text)
        event.id = headers.last(named: "ce_id")?.text
        event.source = SourcePosition(headers: headers)
        event.traceID = headers.last(named: "traceparent")?.value.flatMap { TraceContext(traceparent: $0)?.traceID }
        event.steps = headers.last(named: HeaderName.steps)?.value.map { OutcomeEvent.Steps(text: $0) }
        return event
    }
}

/// The known members of an outcome event's value.
private struct OutcomeBody {
    /// The event without its id, and without what its headers hold.
    private(set) var event = OutcomeEvent(requestID: "", body: .completed(SearchOutcome.Result()))
    private(set) var requestID: String?
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
            case "operation": event.operation = try reader.string()
            case "provider": event.provider = try reader.string()
            case "triedProviders": event.triedProviders = try reader.strings()
            case "sessionId": event.sessionID = try reader.string()
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
                event.unreadablePlaces += 1
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
            case "receivedAt": event.receivedAt = try reader.time()
            case "completedAt": event.completedAt = try reader.time()
            case "upstreamMs": event.upstream = try reader.int().map { .milliseconds($0) }
            case "attempts": event.attempts = try reader.int()
            default: try reader.skip()
            }
        }
    }
}
