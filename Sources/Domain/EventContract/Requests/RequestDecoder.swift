import LocationSearch

/// Reads a record of the requests topic: a CloudEvent in binary mode (`ce_*` headers), in structured mode
/// (`content-type: application/cloudevents+json`), or bare JSON. Safe to use from any thread.
///
/// In all three modes, errors use the request's names for its members. Attributes of the event are named by their header
/// (`ce_type`) or, in structured mode, by their member (`type`). `null` counts as absent, and unknown members are ignored.
/// If a member repeats, the last one counts.
public struct RequestDecoder: Sendable {
    /// The setting `worker.maxRequestBytes`: the maximum size of the value, of the key, and of all headers together.
    public let maximumBytes: Int

    /// Makes a decoder for records up to that size.
    public init(maximumBytes: Int = 65_536) {
        self.maximumBytes = maximumBytes
    }

    /// Reads one record.
    /// - Parameter choosesClass: true if the topic allows requests to choose their class. Otherwise their `priority` is ignored.
    /// - Throws: the rejection of a record that is not a valid request. Faults of the envelope are reported before those of
    ///   members, and a member's type before its range.
    public func decode(_ record: ConsumerRecord, choosesClass: Bool = false) throws(RejectedRecord) -> DecodedRequest {
        var reader = RequestReader(EventAttributes(record.headers))
        do throws(SearchError) {
            try checkSize(of: record)
            try reader.read(record.value)
            let request = try reader.members.request(id: reader.id(or: record.source))
            if choosesClass, case .unknown(let name) = reader.requestedClass {
                throw .invalid(name, expected: "\"interactive\" or \"batch\"")
            }
            return DecodedRequest(
                request: request, envelope: envelope(of: record, reader: reader),
                requestedClass: reader.requestedClass, eventSource: reader.attributes.source)
        } catch {
            let event = reader.attributes.mode == .bare ? RequestReader.undeclaredEvent(record.value) : nil
            let members = (event ?? reader).members
            throw RejectedRecord(
                requestID: (event ?? reader).usableID ?? record.source.requestID, operation: members.operation,
                provider: members.provider?.named, sessionID: RequestMembers.usable(members.sessionID),
                envelope: envelope(of: record, reader: reader), error: event == nil ? error : .undeclaredEvent,
                outcome: reader.attributes.outcome,
                isDeadLetter: DeadLetter.isOne(record.headers), answersOutcome: reader.attributes.answersOutcome)
        }
    }

    private func envelope(of record: ConsumerRecord, reader: RequestReader) -> RequestEnvelope {
        RequestEnvelope(
            source: record.source, key: record.key, trace: reader.attributes.trace,
            time: reader.attributes.time ?? record.time, expiry: reader.attributes.expiry)
    }

    private func checkSize(of record: ConsumerRecord) throws(SearchError) {
        var headers = 0
        for header in record.headers { headers += header.name.utf8.count + (header.value?.count ?? 0) }

        try check("value", size: record.value?.count ?? 0)
        try check("key", size: record.key?.count ?? 0)
        try check("headers", size: headers)
    }

    private func check(_ part: String, size: Int) throws(SearchError) {
        guard size <= maximumBytes else { throw .invalid(part, expected: "at most \(maximumBytes) bytes") }
    }
}

extension SearchError {
    /// The refusal of an event in structured mode whose record lacks the content type of one.
    fileprivate static let undeclaredEvent = SearchError(
        .invalidRequest,
        "the value is a CloudEvent in structured mode, but its record does not declare it: set the header content-type to \"\(CloudEvents.structuredJSON)\"",
        member: "content-type")
}
