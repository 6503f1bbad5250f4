import Console
import EventContract
import Kafka
import LocationSearch
import Observability
import WorkerRuntime

/// The requests to search for: a request id, a trace id, or a record's position as outcomes contain it in `ce_id`.
struct SoughtRequest: Sendable, Hashable {
    /// The id as the user entered it.
    let text: String
    /// The trace id; `nil` if the text cannot be one.
    let traceID: String?
    /// The position in a request topic; `nil` if the text is not a position.
    let position: SourcePosition?

    init(_ text: String, in topics: [String]) {
        self.text = text
        let isTrace = text.utf8.count == 32 && text.utf8.allSatisfy(\.isHexadecimal)
        traceID = isTrace ? text.lowercased() : nil
        position = topics.lazy.compactMap { Self.position(in: $0, text) }.first
    }

    /// Parses `topic-partition-offset`, and `topic-partition@offset`, the form used in lists of dead letters.
    private static func position(in topic: String, _ text: String) -> SourcePosition? {
        guard text.hasPrefix("\(topic)-") else { return nil }
        let numbers = text.dropFirst(topic.count + 1).split(separator: "-", omittingEmptySubsequences: false)
            .flatMap { $0.split(separator: "@", omittingEmptySubsequences: false) }
        guard numbers.count == 2, numbers.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDecimal) }),
            let partition = Int32(numbers[0]), let offset = Int64(numbers[1])
        else { return nil }
        return SourcePosition(topic: topic, partition: partition, offset: offset)
    }

    /// Returns true for a request with this id, in this trace, or at this position.
    func matches(_ source: SourcePosition, requestID: String?, traceID trace: String?) -> Bool {
        if let position { return source == position }
        return requestID == text || (trace != nil && trace == traceID)
    }
}

extension UInt8 {
    fileprivate var isDecimal: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isHexadecimal: Bool {
        isDecimal || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
            || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self)
    }
}

/// The records found in the topics for the requests being searched for.
struct Findings {
    let sought: SoughtRequest
    /// The lives by the position of the record in its request topic.
    var lives: [SourcePosition: RequestLife] = [:]
    /// The state of reading, one element for each request topic.
    var requests: [RequestLives.Reading]
    var results: RequestLives.Reading
    var errors: RequestLives.Reading
    var letters: RequestLives.Reading

    private let decoder: RequestDecoder
    private let mostLives: Int
    /// The times of the marks in the dead-letter topic. A mark may be read before its letter.
    private var marks: [RedriveMark: WallTime?] = [:]
    /// The positions of the matching dead letters, by the position of the original record.
    private var marksOfLetters: [SourcePosition: RedriveMark] = [:]

    init(_ sought: SoughtRequest, topics: WorkerConfiguration.Topics, decoder: RequestDecoder, mostLives: Int) {
        (self.sought, self.decoder, self.mostLives) = (sought, decoder, mostLives)
        requests = topics.requestTopics.map { RequestLives.Reading(topic: $0.name) }
        results = RequestLives.Reading(topic: topics.results)
        errors = RequestLives.Reading(topic: topics.errors)
        letters = RequestLives.Reading(topic: topics.deadLetters)
        if let position = sought.position { lives[position] = RequestLife(source: position) }
    }

    /// The positions of known requests without an outcome.
    var open: [SourcePosition] { lives.values.filter { $0.isKnown && $0.outcomes.isEmpty }.map(\.source) }

    /// The lives about which anything was found, oldest first.
    var result: RequestLives {
        let known = lives.values.filter(\.isKnown).map { completed($0) }
            .sorted { ($0.time ?? .distantPast, $0.source.offset) < ($1.time ?? .distantPast, $1.source.offset) }
        return RequestLives(id: sought.text, lives: known, readings: requests + [results, errors, letters])
    }

    private func completed(_ life: RequestLife) -> RequestLife {
        var life = life
        if !life.outcomes.isEmpty { life.state = .answered }
        life.outcomes.sort {
            ($0.time ?? .distantPast, $0.position.offset) < ($1.time ?? .distantPast, $1.position.offset)
        }
        if let mark = marksOfLetters[life.source], let time = marks[mark] {
            life.letter?.isRedriven = true
            life.letter?.redrivenAt = time
        }
        return life
    }

    // MARK: - State

    var hasRequests: Bool { lives.values.contains { $0.request != nil } }
    var areAllAnswered: Bool { !lives.isEmpty && lives.values.allSatisfy { !$0.outcomes.isEmpty } }
    /// The positions of requests of which only outcomes or dead letters were found.
    var missingRequests: [SourcePosition] {
        lives.values.filter { life in life.request == nil && requests.contains { $0.topic == life.source.topic } }
            .map(\.source)
    }
    var firstTime: WallTime? { lives.values.compactMap(\.time).min() }
    var lastTime: WallTime? { lives.values.compactMap(\.time).max() }

    // MARK: - Adding records

    /// - Parameter isKnownToFit: true for the request of an outcome or dead letter that matches.
    /// - Returns: false once the maximum number of lives is reached.
    mutating func takeRequest(_ record: ConsumerRecord, isKnownToFit: Bool = false) -> Bool {
        let reading = Reading(record, decoder)
        guard isKnownToFit || fits(reading, at: record.source) else { return true }

        update(record.source) { $0.request = RequestLife.Request(record, reading) }
        return lives.count < mostLives
    }

    mutating func takeOutcome(_ record: ConsumerRecord) {
        let headers = record.headers
        guard let source = SourcePosition(headers: headers) else { return }
        // Most outcomes belong to other requests. Once the request is known, only their headers are read.
        let isKnown = lives[source] != nil
        guard isKnown || !hasRequests || sought.traceID != nil,
            let event = try? OutcomeReader().read(value: record.value, headers: headers),
            isKnown || sought.matches(source, requestID: event.requestID, traceID: event.traceID)
        else { return }

        update(source) { life in
            let position = record.source
            // A part of a topic may be read twice, because times do not map to exact offsets.
            guard !life.outcomes.contains(where: { $0.position == position }) else { return }
            life.outcomes.append(
                RequestLife.Outcome(
                    position: position, time: record.time,
                    byteCount: record.value?.count ?? 0, event: event))
        }
    }

    mutating func takeLetter(_ record: ConsumerRecord) {
        let headers = record.headers
        if let mark = RedriveMark(value: record.value, headers: headers) {
            marks[mark] = .some(record.time)
            return
        }
        guard let letter = DeadLetter(key: record.key, value: record.value, headers: headers),
            let source = letter.source, fits(letter, from: source)
        else { return }

        marksOfLetters[source] = RedriveMark(partition: record.partition.id.partition, offset: record.offset)
        update(source) { life in
            life.letter = RequestLife.Letter(
                position: record.source, reason: letter.reason, message: letter.message,
                member: letter.member, time: letter.time)
        }
    }

    private func fits(_ letter: DeadLetter, from source: SourcePosition) -> Bool {
        let record = ConsumerRecord(
            source: source, key: letter.key, value: letter.value, headers: letter.originalHeaders)
        return fits(Reading(record, decoder), at: source)
    }

    private func fits(_ reading: Reading, at source: SourcePosition) -> Bool {
        sought.matches(source, requestID: reading.requestID, traceID: reading.envelope.trace?.traceID)
    }

    private mutating func update(_ source: SourcePosition, _ change: (inout RequestLife) -> Void) {
        guard lives[source] != nil || lives.count < mostLives else { return }
        change(&lives[source, default: RequestLife(source: source)])
    }
}

/// A record of a request topic, decoded as a worker does.
private enum Reading {
    case request(DecodedRequest)
    case rejected(RejectedRecord)

    init(_ record: ConsumerRecord, _ decoder: RequestDecoder) {
        do throws(RejectedRecord) {
            self = .request(try decoder.decode(record))
        } catch {
            self = .rejected(error)
        }
    }

    var requestID: String {
        switch self {
        case .request(let decoded): decoded.request.requestID
        case .rejected(let rejected): rejected.requestID
        }
    }

    var envelope: RequestEnvelope {
        switch self {
        case .request(let decoded): decoded.envelope
        case .rejected(let rejected): rejected.envelope
        }
    }
}

extension RequestLife.Request {
    /// Copies the record, masking any secrets of the settings that it contains.
    fileprivate init(_ record: ConsumerRecord, _ reading: Reading) {
        let masked = SecretRegistry.shared.masked
        let (operation, session, fault): (String?, String?, String?) =
            switch reading {
            case .request(let decoded): (decoded.request.operation.rawValue, decoded.request.sessionID, nil)
            case .rejected(let rejected):
                (rejected.operation?.rawValue, rejected.sessionID, rejected.error.message)
            }

        self.init(
            time: record.time, key: record.key.map(masked), value: record.value.map(masked),
            headers: record.headers.map { RecordHeader($0.name, $0.value.map(masked)) }, requestID: reading.requestID,
            operation: operation, sessionID: session, traceID: reading.envelope.trace?.traceID,
            producer: record.producer, expiry: reading.envelope.expiry, fault: fault)
    }
}

extension RequestLife {
    /// True if anything about the request was found in the topics.
    fileprivate var isKnown: Bool { request != nil || !outcomes.isEmpty || letter != nil }
}

extension WallTime {
    fileprivate static var distantPast: WallTime { WallTime(milliseconds: .min) }
}
