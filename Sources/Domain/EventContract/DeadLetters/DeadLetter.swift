internal import JSON
public import LocationSearch

/// A record that could not be read as a request, kept for an operator. Its key, value and headers are unchanged; additional
/// headers at the end describe the fault.
public struct DeadLetter: Sendable, Hashable {
    /// The `error.code` of the error event, or `crashed-workers`.
    public let reason: String
    /// A one-line description of the fault for an operator. It holds none of the record's bytes.
    public let message: String
    /// The name of the faulty part: a member of the request, a header, or `value` for the record as a whole.
    public let member: String?
    /// The position of the record in the requests topic; `nil` if the dead letter has none.
    public let source: SourcePosition?
    /// The time at which the worker wrote the dead letter; `nil` if the dead letter has none.
    public let time: WallTime?
    /// The name of the worker that wrote the dead letter: its host or pod. `nil` if the dead letter has none.
    public let worker: String?
    /// The number of attempts at a record with the reason `crashed-workers`: how many consecutive owners of its partition
    /// crashed. `nil` for other reasons, whose records are tried once.
    public let tries: Int?
    public private(set) var key: [UInt8]?
    public private(set) var value: [UInt8]?
    /// The headers of the original record, in order.
    public private(set) var originalHeaders: [RecordHeader]
    /// True if key, value and headers are missing because the dead-letter topic rejects records of that size. They remain
    /// at `source` for the retention time of the requests topic.
    public private(set) var isWithoutContent = false

    /// True for a worker's result or error that was written to the requests topic. It must not be sent back there.
    public let isOutcome: Bool

    /// The reason of a record that is no longer processed because worker processes crashed with it. It should not return to
    /// the requests topic until the cause is fixed.
    public static let crashedWorkers = "crashed-workers"

    private static let marker = "dead-letter-reason"
    private static let redriveMarker = "dead-letter-redrive"
    private static let contentMarker = "dead-letter-content"

    /// Makes the dead letter of a record.
    /// - Parameter error: why the record is not a request.
    /// - Parameter reason: `nil`: the error's code.
    /// - Parameter isOutcome: true for a result or an error of a worker.
    /// - Parameter worker: the name of the worker's host or pod; `nil` if it has none.
    /// - Parameter tries: the number of consecutive owners of the partition that crashed; `nil` for other reasons.
    public init(
        _ record: ConsumerRecord, error: SearchError, reason: String? = nil, isOutcome: Bool = false,
        at time: WallTime,
        worker: String? = nil, tries: Int? = nil
    ) {
        self.reason = reason ?? error.code.rawValue
        message = error.message
        member = error.member
        source = record.source
        (self.time, self.worker, self.tries, self.isOutcome) = (time, worker, tries, isOutcome)
        key = record.key
        value = record.value
        originalHeaders = record.headers
    }

    /// The same dead letter without its record's key, value and headers, for a topic that rejects it otherwise.
    public var withoutContent: DeadLetter {
        var letter = self
        (letter.key, letter.value, letter.originalHeaders) = (nil, nil, [])
        letter.isWithoutContent = true
        return letter
    }

    /// Returns the same dead letter with a value that an operator has corrected.
    package func with(value: [UInt8]) -> DeadLetter {
        var letter = self
        letter.value = value
        return letter
    }

    /// The `source` of the original event, which identifies its sender. `nil` if the record has none, such as bare JSON.
    package var producer: String? {
        let nowhere = SourcePosition(topic: "", partition: 0, offset: 0)
        return ConsumerRecord(source: source ?? nowhere, value: value, headers: originalHeaders).producer
    }

    /// The id of the intended request; `nil` if it cannot be read.
    package var requestID: String? {
        var reader = RequestReader(EventAttributes(originalHeaders))
        try? reader.read(value)
        return reader.members.requestID
    }

    /// The event's `expirytime`; `nil` if it has none, or none that can be read.
    package var expiry: WallTime? {
        var reader = RequestReader(EventAttributes(originalHeaders))
        try? reader.read(value)
        return reader.attributes.expiry
    }

    /// Returns the same dead letter with this `expirytime`, unless its own is later. In structured mode, only the
    /// bytes of that member change. An event without an expiry gets none.
    package func expiring(noEarlierThan time: WallTime) -> DeadLetter {
        if let expiry, expiry >= time { return self }
        var letter = self
        if EventAttributes(originalHeaders).mode == .structured {
            guard let value, let range = try? Self.rangeOfExpiry(in: value.span) else { return self }
            letter.value?.replaceSubrange(range, with: Array("\"\(time)\"".utf8))
        } else if let index = originalHeaders.lastIndex(where: { $0.name.lowercased() == "ce_expirytime" }),
            originalHeaders[index].value != nil
        {
            letter.originalHeaders[index] = RecordHeader(originalHeaders[index].name, time.bytes)
        }
        return letter
    }

    /// Returns the range of the last `expirytime` in a structured event; `nil` if it has none.
    private static func rangeOfExpiry(in json: Span<UInt8>) throws(JSONError) -> Range<Int>? {
        var reader = JSONReader(json)
        var range: Range<Int>?
        guard try reader.enterObject() else { return nil }
        while let key = try reader.nextKey() {
            switch key {
            case "expirytime": range = try reader.skipNull() ? nil : try reader.skippedRange()
            default: try reader.skip()
            }
        }
        return range
    }

    /// The headers for the dead-letter topic: the original ones, then ours, which begin with `dead-letter-reason`.
    public var headers: [RecordHeader] {
        var headers = originalHeaders
        headers.reserveCapacity(headers.count + 11)

        headers.append(RecordHeader(Self.marker, text: reason))
        headers.append(RecordHeader("dead-letter-message", text: message))
        if let member { headers.append(RecordHeader("dead-letter-member", text: member)) }
        if let source { PositionText(source).append(to: &headers) }
        if let time { headers.append(RecordHeader("dead-letter-time", time.bytes)) }
        if let worker { headers.append(RecordHeader("dead-letter-worker", text: worker)) }
        if let tries { headers.append(RecordHeader("dead-letter-tries", text: "\(tries)")) }
        if isOutcome { headers.append(RecordHeader(Self.redriveMarker, text: "never")) }
        if isWithoutContent { headers.append(RecordHeader(Self.contentMarker, text: "too-large")) }
        return headers
    }

    /// Returns whether the headers are those of a dead letter, in any topic. A dead letter that is read as a request gets
    /// no further dead letter, because its bytes are kept already. Headers that only resemble ours do not count: such a
    /// record must still get its dead letter.
    static func isOne(_ headers: [RecordHeader]) -> Bool {
        guard headers.contains(where: { $0.name == marker }),
            let letter = DeadLetter(key: nil, value: nil, headers: headers)
        else { return false }
        return letter.source != nil && letter.time != nil && !letter.message.isEmpty
    }

    /// Reads a record of the dead-letter topic.
    ///
    /// Our headers begin at the *last* `dead-letter-reason`, whatever headers the record had. So key, value and
    /// `originalHeaders` are those from the requests topic, ready to be sent again.
    /// - Returns: `nil` if the record is not a dead letter.
    public init?(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) {
        guard let start = headers.lastIndex(where: { $0.name == Self.marker }), let reason = headers[start].text else {
            return nil
        }

        let own = Array(headers[start...])
        self.reason = reason
        message = own.last(named: "dead-letter-message")?.text ?? ""
        member = own.last(named: "dead-letter-member")?.text
        source = SourcePosition(headers: own)
        time = own.last(named: "dead-letter-time")?.value.flatMap(WallTime.init(rfc3339:))
        worker = own.last(named: "dead-letter-worker")?.text
        tries = own.last(named: "dead-letter-tries")?.text.flatMap { Int($0) }

        self.key = key
        self.value = value
        originalHeaders = Array(headers[..<start])
        isOutcome = own.contains { $0.name == Self.redriveMarker }
        isWithoutContent = own.contains { $0.name == Self.contentMarker }
    }
}

/// A record in the dead-letter topic that marks one of its dead letters as sent back to the requests topic. The next
/// redrive, from any machine and with any filter, reads these marks.
public struct RedriveMark: Sendable, Hashable {
    /// The partition of the dead letter.
    public let partition: Int32
    /// The offset of the dead letter.
    public let offset: Int64

    private static let header = "dead-letter-redriven"

    /// Marks the dead letter at this position as sent again.
    public init(partition: Int32, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// The only header of the mark's record, whose key and value are null.
    public var headers: [RecordHeader] { [RecordHeader(Self.header, text: "\(partition)/\(offset)")] }

    /// Reads a record of the dead-letter topic.
    /// - Returns: `nil` if the record is not a mark.
    public init?(value: [UInt8]?, headers: [RecordHeader]) {
        guard value == nil, headers.count == 1, let first = headers.first, first.name == Self.header,
            let parts = first.text?.split(separator: "/"), parts.count == 2, let partition = Int32(parts[0]),
            let offset = Int64(parts[1])
        else { return nil }
        self.init(partition: partition, offset: offset)
    }
}
