public import LocationSearch

/// A record that could not be read as a request, kept for a person: its value, key and headers untouched, and behind
/// them headers that say what was wrong.
public struct DeadLetter: Sendable, Hashable {
    /// `error.code` of the error event.
    public let reason: String
    /// For a person; holds none of the record's bytes.
    public let message: String
    /// What is at fault: a member of the request, a header, or `value`.
    public let member: String?
    /// Where the record stood.
    public let source: SourcePosition?
    /// When it was put aside.
    public let time: EventTime?
    public private(set) var key: [UInt8]?
    public private(set) var value: [UInt8]?
    /// The record's own, in their order.
    public private(set) var originalHeaders: [EventHeader]
    /// Whether key, value and headers are missing, as the dead-letter topic does not take records of that size: they are
    /// at `source`, for as long as the requests topic keeps them.
    public private(set) var isWithoutContent = false

    private static let marker = "dead-letter-reason"
    private static let contentMarker = "dead-letter-content"

    public init(_ record: IncomingRecord, error: SearchError, at time: EventTime) {
        reason = error.code.rawValue
        message = error.message
        member = error.member
        source = record.source
        self.time = time
        key = record.key
        value = record.value
        originalHeaders = record.headers
    }

    /// The same without the record's own key, value and headers, for a topic that does not take them.
    public var withoutContent: DeadLetter {
        var letter = self
        (letter.key, letter.value, letter.originalHeaders) = (nil, nil, [])
        letter.isWithoutContent = true
        return letter
    }

    /// Headers for the record in the dead-letter topic: the original ones, then ours, of which `dead-letter-reason` is
    /// the first.
    public var headers: [EventHeader] {
        var headers = originalHeaders
        headers.reserveCapacity(headers.count + 8)
        headers.append(EventHeader(Self.marker, text: reason))
        headers.append(EventHeader("dead-letter-message", text: message))
        if let member { headers.append(EventHeader("dead-letter-member", text: member)) }
        if let source { PositionText(source).append(to: &headers) }
        if let time { headers.append(EventHeader("dead-letter-time", time.bytes)) }
        if isWithoutContent { headers.append(EventHeader(Self.contentMarker, text: "too-large")) }
        return headers
    }

    /// Reads a record of the dead-letter topic.
    ///
    /// Ours are the headers from the *last* `dead-letter-reason` on, whatever the record brought along itself: so key,
    /// value and `originalHeaders` are what the requests topic held, ready to be sent there again.
    /// - Returns: `nil` when the record is no dead letter.
    public init?(key: [UInt8]?, value: [UInt8]?, headers: [EventHeader]) {
        guard let start = headers.lastIndex(where: { $0.name == Self.marker }), let reason = headers[start].text else {
            return nil
        }
        let own = Array(headers[start...])
        self.reason = reason
        message = own.last(named: "dead-letter-message")?.text ?? ""
        member = own.last(named: "dead-letter-member")?.text
        source = SourcePosition(headers: own)
        time = own.last(named: "dead-letter-time")?.value.flatMap(EventTime.init(rfc3339:))
        self.key = key
        self.value = value
        originalHeaders = Array(headers[..<start])
        isWithoutContent = own.contains { $0.name == Self.contentMarker }
    }
}
