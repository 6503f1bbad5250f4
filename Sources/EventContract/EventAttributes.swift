import LocationSearch

/// The attributes of a request's CloudEvent that matter here, from headers or from a structured event's members.
struct EventAttributes {
    /// How the event is laid out in its record.
    enum Mode {
        case bare, binary, structured
    }

    private(set) var mode = Mode.bare
    var contentType: [UInt8]?
    var specVersion: [UInt8]?
    var id: [UInt8]?
    var source: [UInt8]?
    var type: [UInt8]?
    var time: EventTime?
    private var traceParent: [UInt8]?
    private var traceState: [UInt8]?

    /// - Parameter headers: of a name that repeats, the last counts, as in Kafka's own clients.
    init(_ headers: [EventHeader]) {
        for header in headers {
            // Most foreign headers end here: their first letter is none of ours.
            switch header.name.utf8.first.map({ $0 | 0x20 }) {
            case UInt8(ascii: "c"): takeEventHeader(header)
            case UInt8(ascii: "t"): takeTraceHeader(header)
            default: break
            }
        }
    }

    private mutating func takeEventHeader(_ header: EventHeader) {
        if header.hasName("content-type") {
            contentType = header.value
            let type = header.value.flatMap(CloudEvents.mediaType)
            if type?.hasPrefix("application/cloudevents") == true { mode = .structured }
            return
        }
        guard header.name.utf8.starts(with: "ce_".utf8) else { return }
        if mode == .bare { mode = .binary }
        if header.hasName("ce_specversion") {
            specVersion = header.value
        } else if header.hasName("ce_id") {
            id = header.value
        } else if header.hasName("ce_source") {
            source = header.value
        } else if header.hasName("ce_type") {
            type = header.value
        } else if header.hasName("ce_time") {
            time = header.value.flatMap { EventTime(rfc3339: $0) }
        } else if header.hasName("ce_traceparent") {
            takeTrace(parent: header.value)
        } else if header.hasName("ce_tracestate") {
            takeTrace(state: header.value)
        }
    }

    private mutating func takeTraceHeader(_ header: EventHeader) {
        if header.hasName("traceparent") {
            traceParent = header.value
        } else if header.hasName("tracestate") {
            traceState = header.value
        }
    }

    /// For structured mode: what the headers say of an event does not count, but for the trace.
    mutating func forgetEvent() {
        (contentType, specVersion, id, source, type, time) = (nil, nil, nil, nil, nil, nil)
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
        for (name, value) in [("specversion", specVersion), ("id", id), ("source", source), ("type", type)] {
            guard let value, !value.isEmpty, String(validating: value, as: UTF8.self) != nil else {
                throw .invalid(prefix + name, "text, as CloudEvents 1.0 requires of every event")
            }
        }
        guard specVersion?.elementsEqual(CloudEvents.specVersion.utf8) == true else {
            throw .invalid(prefix + "specversion", "\"\(CloudEvents.specVersion)\"")
        }
        guard type?.elementsEqual(EventType.requested.rawValue.utf8) == true else {
            throw .invalid(prefix + "type", "\"\(EventType.requested.rawValue)\"")
        }
    }

    /// Checks that the data is JSON, where the event says what it is.
    func checkContentType(_ name: String) throws(SearchError) {
        guard let contentType else { return }
        guard let type = CloudEvents.mediaType(of: contentType), CloudEvents.isJSON(type) else {
            throw .invalid(name, "\"\(CloudEvents.json)\" or none")
        }
    }
}
