public import LocationSearch

/// A record that could not be read as a request, kept for a person. Its value, key and headers are untouched; headers
/// behind them say what was wrong.
public struct DeadLetter: Sendable, Hashable {
    /// The `error.code` of the error event, or `crashed-workers`.
    public let reason: String
    /// One line for a person that says what was wrong. It holds none of the record's bytes.
    public let message: String
    /// The name of what is at fault: a member of the request, a header, or `value` for the record as a whole.
    public let member: String?
    /// The position of the record in the requests topic; `nil` when the dead letter does not say.
    public let source: SourcePosition?
    /// The time at which the worker put the record aside; `nil` when the dead letter does not say.
    public let time: EventTime?
    /// The name by which people know the worker that put the record aside: its host or pod. `nil` when the dead letter does not say.
    public let worker: String?
    /// How often a record of the reason `crashed-workers` was tried: the number of worker processes in a row that ended with its
    /// partition, without leaving the group. `nil` for other reasons, whose records are tried once.
    public let tries: Int?
    /// The key of the record.
    public private(set) var key: [UInt8]?
    /// The value of the record.
    public private(set) var value: [UInt8]?
    /// The headers that the record brought along, in their order.
    public private(set) var originalHeaders: [EventHeader]
    /// True when key, value and headers are missing because the dead-letter topic does not take records of that size. They
    /// are at `source`, for as long as the requests topic keeps them.
    public private(set) var isWithoutContent = false

    /// True for a result or an error of a worker that stood in the requests topic. It must not go back there.
    public let isOutcome: Bool

    /// The reason of a record that is not run any more, because processes have crashed with it. It should not go back to the requests
    /// topic before the cause is mended.
    public static let crashedWorkers = "crashed-workers"

    private static let marker = "dead-letter-reason"
    private static let redriveMarker = "dead-letter-redrive"
    private static let contentMarker = "dead-letter-content"

    /// Puts a record aside.
    /// - Parameter error: why it is no request.
    /// - Parameter reason: `nil`: the error's code.
    /// - Parameter isOutcome: true for a result or an error of a worker.
    /// - Parameter worker: the name of the worker's host or pod; `nil` where it has none.
    /// - Parameter tries: how many worker processes ended with the record's partition; `nil` where that is not the reason.
    public init(
        _ record: IncomingRecord, error: SearchError, reason: String? = nil, isOutcome: Bool = false,
        at time: EventTime,
        worker: String? = nil, tries: Int? = nil
    ) {
        self.reason = reason ?? error.code.rawValue
        message = error.message
        member = error.member
        source = record.source
        self.time = time
        self.worker = worker
        self.tries = tries
        self.isOutcome = isOutcome
        key = record.key
        value = record.value
        originalHeaders = record.headers
    }

    /// The same dead letter without the key, value and headers of its record, for a topic that does not take them.
    public var withoutContent: DeadLetter {
        var letter = self
        (letter.key, letter.value, letter.originalHeaders) = (nil, nil, [])
        letter.isWithoutContent = true
        return letter
    }

    /// The same dead letter with another value, as a person has put it right.
    package func with(value: [UInt8]) -> DeadLetter {
        var letter = self
        letter.value = value
        return letter
    }

    /// The source of the event that the record was: who sent it. `nil` where the record does not say, as bare JSON never does.
    package var producer: String? {
        let nowhere = SourcePosition(topic: "", partition: 0, offset: 0)
        return IncomingRecord(source: source ?? nowhere, value: value, headers: originalHeaders).producer
    }

    /// The id of the request that the record was to be; `nil` where it cannot be told.
    package var requestID: String? {
        var reader = RequestReader(EventAttributes(originalHeaders))
        try? reader.read(value)
        return reader.members.requestID
    }

    /// The headers for the dead-letter topic: the original ones, then ours, of which `dead-letter-reason` is the first.
    public var headers: [EventHeader] {
        var headers = originalHeaders
        headers.reserveCapacity(headers.count + 11)

        headers.append(EventHeader(Self.marker, text: reason))
        headers.append(EventHeader("dead-letter-message", text: message))
        if let member { headers.append(EventHeader("dead-letter-member", text: member)) }
        if let source { PositionText(source).append(to: &headers) }
        if let time { headers.append(EventHeader("dead-letter-time", time.bytes)) }
        if let worker { headers.append(EventHeader("dead-letter-worker", text: worker)) }
        if let tries { headers.append(EventHeader("dead-letter-tries", text: "\(tries)")) }
        if isOutcome { headers.append(EventHeader(Self.redriveMarker, text: "never")) }
        if isWithoutContent { headers.append(EventHeader(Self.contentMarker, text: "too-large")) }
        return headers
    }

    /// Returns true for the headers of a dead letter, wherever it stands. One that is read as a request and is none has no
    /// further dead letter: its bytes are put aside already. Headers that only look like ours do not count, because what
    /// has them would be put aside nowhere.
    static func isOne(_ headers: [EventHeader]) -> Bool {
        guard headers.contains(where: { $0.name == marker }),
            let letter = DeadLetter(key: nil, value: nil, headers: headers)
        else { return false }
        return letter.source != nil && letter.time != nil && !letter.message.isEmpty
    }

    /// Reads a record of the dead-letter topic.
    ///
    /// The headers from the *last* `dead-letter-reason` on are ours, whatever the record brought along itself. So key,
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
        worker = own.last(named: "dead-letter-worker")?.text
        tries = own.last(named: "dead-letter-tries")?.text.flatMap { Int($0) }

        self.key = key
        self.value = value
        originalHeaders = Array(headers[..<start])
        isOutcome = own.contains { $0.name == Self.redriveMarker }
        isWithoutContent = own.contains { $0.name == Self.contentMarker }
    }
}
