import LocationSearch

/// The attributes of a request's CloudEvent that matter here, from headers or from a structured event's members.
struct EventAttributes {
    /// How the event is laid out in its record.
    enum Mode {
        case bare, binary, structured
    }

    private(set) var mode = Mode.bare
    var contentType: ContentType?
    var specVersion: [UInt8]?
    var id: [UInt8]?
    var source: [UInt8]?
    var type: [UInt8]?
    var time: EventTime?
    var expiry: EventTime?
    private var traceParent: [UInt8]?
    private var traceState: [UInt8]?

    /// - Parameter headers: of a name that repeats, the last counts, as in Kafka's own clients. The case of names does
    ///   not matter.
    init(_ headers: [EventHeader]) {
        for header in headers {
            if take(header.value, named: header.name) { continue }
            guard header.name.utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else {
                continue
            }
            _ = take(header.value, named: header.name.lowercased())
        }
        if contentType == .structuredJSON || contentType == .otherEvent { mode = .structured }
    }

    /// - Returns: `false` when the name is none of an event's.
    private mutating func take(_ value: [UInt8]?, named name: String) -> Bool {
        switch name {
        case "content-type": contentType = value.map(ContentType.init)
        case "traceparent": traceParent = value
        case "tracestate": traceState = value
        case "ce_specversion": specVersion = value
        case "ce_id": id = value
        case "ce_source": source = value
        case "ce_type": type = value
        case "ce_time": time = value.flatMap(EventTime.init(rfc3339:))
        case "ce_expirytime": expiry = value.flatMap(EventTime.init(rfc3339:))
        case "ce_traceparent": takeTrace(parent: value)
        case "ce_tracestate": takeTrace(state: value)
        default:
            guard name.hasPrefix("ce_") else { return false }
        }
        if mode == .bare, name.hasPrefix("ce_") { mode = .binary }
        return true
    }

    /// For structured mode: what the headers say of an event does not count, but for the trace.
    mutating func forgetEvent() {
        (contentType, specVersion, id, source, type, time, expiry) = (nil, nil, nil, nil, nil, nil, nil)
    }

    /// An event's own trace attributes, which stand back behind the headers.
    mutating func takeTrace(parent: [UInt8]? = nil, state: [UInt8]? = nil) {
        traceParent = traceParent ?? parent
        traceState = traceState ?? state
    }

    var trace: TraceContext? {
        traceParent.flatMap { TraceContext(traceparent: $0, tracestate: traceState) }
    }

    /// Checks what every event must have, and what a request's must be.
    /// - Parameter prefix: what stands before an attribute's name: `ce_` for headers.
    func check(prefix: String) throws(SearchError) {
        try Self.checkText(specVersion, prefix, "specversion")
        try Self.checkText(id, prefix, "id")
        try Self.checkText(source, prefix, "source")
        try Self.checkText(type, prefix, "type")
        guard specVersion == Self.specVersion else {
            throw .invalid(prefix + "specversion", "\"\(CloudEvents.specVersion)\"")
        }
        guard type == Self.requested else {
            throw .invalid(prefix + "type", "\"\(EventType.requested.rawValue)\"")
        }
    }

    private static let specVersion = Array(CloudEvents.specVersion.utf8)
    private static let requested = Array(EventType.requested.rawValue.utf8)

    private static func checkText(_ value: [UInt8]?, _ prefix: String, _ name: String) throws(SearchError) {
        guard let value, !value.isEmpty, (try? UTF8Span(validating: value.span)) != nil else {
            throw .invalid(prefix + name, "text, as CloudEvents 1.0 requires of every event")
        }
    }

    /// Checks that the data is JSON, where the event says what it is.
    func checkContentType(_ name: String) throws(SearchError) {
        guard contentType == nil || contentType == .json else {
            throw .invalid(name, "\"\(CloudEvents.json)\" or none")
        }
    }
}
