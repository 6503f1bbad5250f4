import Basics
import JSON
import LocationSearch

/// The attributes of a request's CloudEvent that are used here, from headers or from a structured event's members.
struct EventAttributes {
    /// The layout of the event in its record.
    enum Mode {
        case bare, binary, structured
    }

    private(set) var mode = Mode.bare
    var contentType: ContentType?
    var specVersion: [UInt8]?
    var id: [UInt8]?
    var source: [UInt8]?
    var type: [UInt8]?
    var time: WallTime?
    private(set) var expiry: WallTime?
    /// True for an event whose `expirytime` is not a valid time. If it were ignored, the request would be processed after
    /// its producer stopped waiting.
    private var hasUnreadableExpiry = false
    /// True for a worker's error event about an outcome in the requests topic.
    private(set) var answersOutcome = false
    private(set) var requestedClass = RequestedClass.none
    /// The traces that the record's headers and the event's attributes name. The two texts of a trace belong together.
    private var headerTrace, eventTrace: (parent: [UInt8]?, state: [UInt8]?)

    /// Reads the attributes from a record's headers.
    /// - Parameter headers: if a name repeats, the last header counts, as in Kafka's own clients. The case of names does not matter.
    init(_ headers: [RecordHeader]) {
        for header in headers {
            if take(header.value, named: header.name) { continue }

            if Self.hasCapitals(header.name) { _ = take(header.value, named: header.name.lowercased()) }
        }

        if contentType == .structuredJSON || contentType == .otherEvent { mode = .structured }
    }

    private static func hasCapitals(_ name: String) -> Bool {
        let bytes = name.utf8.span
        for index in bytes.indices where bytes[index] >= UInt8(ascii: "A") && bytes[index] <= UInt8(ascii: "Z") {
            return true
        }
        return false
    }

    /// Reads one header.
    /// - Returns: `false` if events have no header of that name.
    private mutating func take(_ value: [UInt8]?, named name: String) -> Bool {
        // Comparing strings one by one would take a call for each.
        switch JSONText(plain: name.utf8.span) {
        case "content-type": contentType = value.map(ContentType.init)
        case "traceparent": headerTrace.parent = value
        case "tracestate": headerTrace.state = value
        case "ce_specversion": specVersion = value
        case "ce_id": id = value
        case "ce_source": source = value
        case "ce_type": type = value
        case "ce_time": time = value.flatMap(WallTime.init(rfc3339:))
        case "ce_expirytime": takeExpiry(value)
        case "ce_priority": takePriority(value, named: "ce_priority")
        case HeaderName.answersOutcome: answersOutcome = true
        case "ce_traceparent": takeTrace(parent: value)
        case "ce_tracestate": takeTrace(state: value)
        default:
            guard name.hasPrefix("ce_") else { return false }
        }

        if mode == .bare, name.hasPrefix("ce_") { mode = .binary }
        return true
    }

    /// Drops the event's attributes that headers held: in structured mode the value is the event.
    mutating func forgetEvent() {
        (contentType, specVersion, id, source, type, time, requestedClass) = (nil, nil, nil, nil, nil, nil, .none)
        takeExpiry(nil)
        eventTrace = (nil, nil)
    }

    /// Reads the event's `priority`.
    /// - Parameter value: `nil` if the event has none.
    mutating func takePriority(_ value: [UInt8]?, named name: String) {
        requestedClass = value.map { RequestedClass(JSONText(plain: $0.span), name: name) } ?? .none
    }

    /// Reads the event's `expirytime`.
    /// - Parameter value: `nil` if the event has none.
    mutating func takeExpiry(_ value: [UInt8]?) {
        expiry = value.flatMap(WallTime.init(rfc3339:))
        hasUnreadableExpiry = value != nil && expiry == nil
    }

    /// Reads a part of the trace from the event's attributes.
    mutating func takeTrace(parent: [UInt8]? = nil, state: [UInt8]? = nil) {
        eventTrace = (parent ?? eventTrace.parent, state ?? eventTrace.state)
    }

    /// The trace to continue, of the headers if they have a valid one; `nil` if there is none.
    var trace: TraceContext? {
        headerTrace.parent.flatMap { TraceContext(traceparent: $0, tracestate: headerTrace.state) }
            ?? eventTrace.parent.flatMap { TraceContext(traceparent: $0, tracestate: eventTrace.state) }
    }

    /// Checks that the event has the attributes that CloudEvents requires, and that it is a request.
    /// - Parameter prefix: the text before an attribute's name in errors: `ce_` for headers.
    func check(prefix: String) throws(SearchError) {
        try Self.checkText(specVersion, prefix: prefix, name: "specversion")
        try Self.checkText(id, prefix: prefix, name: "id")
        try Self.checkText(source, prefix: prefix, name: "source")
        try Self.checkText(type, prefix: prefix, name: "type")

        guard specVersion == Self.specVersion else {
            throw .invalid(prefix + "specversion", expected: "\"\(CloudEvents.specVersion)\"")
        }
        guard type == Self.requested else {
            throw .invalid(prefix + "type", expected: "\"\(EventType.requested.rawValue)\"")
        }
        guard !hasUnreadableExpiry else {
            throw .invalid(prefix + "expirytime", expected: "an RFC 3339 time such as 2026-11-22T09:30:00Z, or none")
        }
    }

    /// The kind of outcome, by the event's type alone; `nil` if the event is not an outcome.
    var outcome: EventType? { type == Self.completed ? .completed : type == Self.failed ? .failed : nil }

    private static let completed = Array(EventType.completed.rawValue.utf8)
    private static let failed = Array(EventType.failed.rawValue.utf8)
    private static let specVersion = Array(CloudEvents.specVersion.utf8)
    private static let requested = Array(EventType.requested.rawValue.utf8)

    private static func checkText(_ value: [UInt8]?, prefix: String, name: String) throws(SearchError) {
        guard let value, !value.isEmpty, value.span.isUTF8 else {
            throw .invalid(prefix + name, expected: "text, as CloudEvents 1.0 requires of every event")
        }
    }

    /// Checks that the content type, if the event has one, is JSON.
    /// - Parameter name: the name of the content type in the error.
    func checkContentType(_ name: String) throws(SearchError) {
        guard contentType == nil || contentType == .json else {
            throw .invalid(name, expected: "\"\(CloudEvents.json)\" or none")
        }
    }
}
