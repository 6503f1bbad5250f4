import JSON
import LocationSearch

/// Reads one record. It continues after a fault, so that the rejection can identify the request.
struct RequestReader {
    /// The attributes of the event, including those in a structured event's value.
    private(set) var attributes: EventAttributes
    /// The members of the request that have been read.
    private(set) var members = RequestMembers()

    init(_ attributes: EventAttributes) {
        self.attributes = attributes
    }

    /// Reads the record's value into `members`.
    /// - Throws: `invalid-request` for a fault of the value or its envelope. Faults of members are in `members`.
    mutating func read(_ value: [UInt8]?) throws(SearchError) {
        guard let value else {
            throw .invalid("value", expected: "a request as a JSON object; the record has no value")
        }
        guard let first = value.first else {
            throw .invalid("value", expected: "a request as a JSON object; it is empty")
        }

        // Serialisers that work with a schema registry put the schema's id before the data.
        guard first > 0x01 || value.count < 5 else {
            throw .invalid(
                "value",
                expected: "plain JSON; the value begins with a schema registry's header (a magic byte and a schema id)")
        }

        switch attributes.mode {
        case .bare: try readBody(value.span, named: "value")
        case .binary: try readBinary(value.span)
        case .structured: try readStructured(value.span)
        }
    }

    private mutating func readBinary(_ json: Span<UInt8>) throws(SearchError) {
        // A fault of the envelope is reported first, but a rejection needs the members in any case.
        let fault = failure { (reader) throws(SearchError) in try reader.readBody(json, named: "value") }

        try attributes.check(prefix: "ce_")
        try attributes.checkContentType("content-type")
        if let fault { throw fault }
    }

    /// Runs a step and returns its failure, so that the caller can continue.
    private mutating func failure(of step: (inout RequestReader) throws(SearchError) -> Void) -> SearchError? {
        do throws(SearchError) {
            try step(&self)
            return nil
        } catch {
            return error
        }
    }

    /// - Parameter name: the name of the text that holds the request, for the error.
    private mutating func readBody(_ json: Span<UInt8>, named name: String) throws(SearchError) {
        let isObject: Bool
        do throws(JSONError) {
            var reader = JSONReader(json)
            isObject = try members.read(from: &reader)
            try reader.finish()
        } catch {
            throw Self.invalid(name, error: error)
        }
        guard isObject else { throw .invalid(name, expected: "a request as a JSON object") }
        // The JSON reader checks the text that it returns. This check covers what it skipped.
        guard members.problem != nil || json.isUTF8 else { throw .invalid(name, expected: "JSON in valid UTF-8") }
    }

    private static func invalid(_ name: String, error: JSONError) -> SearchError {
        error.kind == .tooDeep
            ? .invalid(name, expected: "JSON nested at most 64 deep")
            : .invalid(name, expected: "valid JSON; found: \(error)")
    }

    // MARK: Structured mode

    /// The kinds of data that a structured event may have.
    private enum EventData {
        case absent, request, notAnObject
    }

    private mutating func readStructured(_ json: Span<UInt8>) throws(SearchError) {
        guard attributes.contentType == .structuredJSON else {
            throw .invalid(
                "content-type", expected: "\"\(CloudEvents.structuredJSON)\", \"\(CloudEvents.json)\" or none")
        }
        try readEnvelope(json)
    }

    private mutating func readEnvelope(_ json: Span<UInt8>) throws(SearchError) {
        // In this mode the value alone is the event, whatever attributes the headers hold.
        attributes.forgetEvent()

        var (data, base64) = (EventData.absent, nil as String?)
        do throws(JSONError) {
            var reader = JSONReader(json)
            guard try reader.enterObject() else {
                try reader.finish()
                throw JSONError(.unexpectedByte, at: 0)
            }

            while let key = try reader.nextKey() {
                switch key {
                case "data": data = try readData(&reader)
                case "data_base64": base64 = try Self.text(&reader)
                case "specversion": attributes.specVersion = try Self.bytes(&reader)
                case "id": attributes.id = try Self.bytes(&reader)
                case "source": attributes.source = try Self.bytes(&reader)
                case "type": attributes.type = try Self.bytes(&reader)
                case "time": attributes.time = try Self.bytes(&reader).flatMap(WallTime.init(rfc3339:))
                case "expirytime": attributes.takeExpiry(try Self.bytesOfAnyValue(&reader))
                case "datacontenttype": attributes.contentType = try Self.bytes(&reader).map(ContentType.init)
                case "priority": attributes.takePriority(try Self.bytesOfAnyValue(&reader), named: "priority")
                case "traceparent": attributes.takeTrace(parent: try Self.bytes(&reader))
                case "tracestate": attributes.takeTrace(state: try Self.bytes(&reader))
                default: try reader.skip()
                }
            }
            try reader.finish()
        } catch {
            throw Self.invalid("value", error: error)
        }

        var fault: SearchError?
        if let base64 {
            fault = failure { (reader) throws(SearchError) in try reader.readBase64(base64, beside: data) }
        } else if data != .request {
            fault = .invalid("data", expected: "a request as a JSON object")
        }

        try attributes.check(prefix: "")
        try attributes.checkContentType("datacontenttype")
        if let fault { throw fault }
        guard members.problem != nil || json.isUTF8 else { throw .invalid("value", expected: "JSON in valid UTF-8") }
    }

    private mutating func readData(_ reader: inout JSONReader) throws(JSONError) -> EventData {
        // If `data` repeats, the last one counts.
        members = RequestMembers()
        if try reader.skipNull() { return .absent }
        return try members.read(from: &reader) ? .request : .notAnObject
    }

    private mutating func readBase64(_ text: String, beside data: EventData) throws(SearchError) {
        guard data == .absent else { throw .invalid("data_base64", expected: "no value, because data is present") }
        guard let bytes = Base64.decode(text) else { throw .invalid("data_base64", expected: "Base64 (RFC 4648)") }
        try readBody(bytes.span, named: "data_base64")
    }

    private static func bytes(_ reader: inout JSONReader) throws(JSONError) -> [UInt8]? {
        try text(&reader).map { Array($0.utf8) }
    }

    /// Reads a string; `nil` if the value is `null`, and an empty array if it is of another type or not valid text.
    private static func bytesOfAnyValue(_ reader: inout JSONReader) throws(JSONError) -> [UInt8]? {
        if try reader.skipNull() { return nil }
        return try bytes(&reader) ?? []
    }

    /// Reads a string; `nil` if the value is not a string, or not valid text.
    private static func text(_ reader: inout JSONReader) throws(JSONError) -> String? {
        do throws(JSONError) {
            return try reader.string()
        } catch {
            guard error.isInText else { throw error }
            return nil
        }
    }

    // MARK: Undeclared events

    /// Reads a value that looks like an event in structured mode although no header declares one; `nil` for any other value.
    ///
    /// Such a value is still refused. Read as bare JSON, it would be refused for missing members that are in its `data`.
    static func undeclaredEvent(_ value: [UInt8]?) -> RequestReader? {
        guard let value else { return nil }
        var reader = RequestReader(EventAttributes([]))
        // A fault of the event does not matter here.
        _ = reader.failure { (reader) throws(SearchError) in try reader.readEnvelope(value.span) }
        let attributes = reader.attributes
        return attributes.specVersion != nil && attributes.type != nil && attributes.source != nil ? reader : nil
    }

    /// The class in the request's `priority`, otherwise in the event's attribute.
    var requestedClass: RequestedClass {
        members.requestedClass == .none ? attributes.requestedClass : members.requestedClass
    }

    // MARK: The request's id

    /// The id of the event, if it can serve as the id of a request.
    private var eventID: String? {
        RequestMembers.usable(attributes.id.flatMap { String(validating: $0, as: UTF8.self) })
    }

    /// The first usable id, for a rejection; `nil` if there is none.
    var usableID: String? { RequestMembers.usable(members.requestID) ?? eventID }

    /// Returns the id of a request: `requestId`, otherwise the event's `id`, otherwise `position`.
    /// - Throws: `invalid-request` if the event's id is needed but unusable.
    func id(or position: SourcePosition) throws(SearchError) -> String {
        if let id = members.requestID { return id }
        guard attributes.id != nil else { return position.requestID }
        if let id = eventID { return id }
        throw .invalid(
            attributes.mode == .structured ? "id" : "ce_id",
            expected: "text of 1 to 128 characters, because requestId is missing")
    }
}

extension ConsumerRecord {
    /// The `source` of the event, which identifies its sender. `nil` if the record has none, such as bare JSON.
    package var producer: String? {
        var reader = RequestReader(EventAttributes(headers))
        try? reader.read(value)
        return reader.attributes.source.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
