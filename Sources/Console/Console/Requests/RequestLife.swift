package import EventContract

/// What became of one record of the requests topic, as far as the topics tell.
package struct RequestLife: Sendable {
    /// The record itself.
    package struct Request: Sendable {
        /// The record's timestamp; `nil` when it has none.
        package let time: EventTime?
        package let key: [UInt8]?
        package let value: [UInt8]?
        /// The headers in their order.
        package let headers: [EventHeader]
        /// The id of the request, or the position of a record that has none.
        package let requestID: String
        package let operation: String?
        package let sessionID: String?
        package let traceID: String?
        /// The source of the event: who sent it. `nil` where the record does not say.
        package let producer: String?
        /// The time from which on nobody wants the outcome; `nil`: the request names none.
        package let expiry: EventTime?
        /// Why the record is no request; `nil` where it is one.
        package let fault: String?

        package init(
            time: EventTime?, key: [UInt8]?, value: [UInt8]?, headers: [EventHeader], requestID: String,
            operation: String? = nil, sessionID: String? = nil, traceID: String? = nil, producer: String? = nil,
            expiry: EventTime? = nil, fault: String? = nil
        ) {
            self.time = time
            self.key = key
            self.value = value
            self.headers = headers
            self.requestID = requestID
            self.operation = operation
            self.sessionID = sessionID
            self.traceID = traceID
            self.producer = producer
            self.expiry = expiry
            self.fault = fault
        }
    }

    /// One record of an outcome topic.
    package struct Outcome: Sendable {
        /// Where it stands in its topic.
        package let position: SourcePosition
        /// The record's timestamp, if it has one.
        package let time: EventTime?
        /// The bytes of the record's value.
        package let byteCount: Int
        package let event: OutcomeEvent

        package init(position: SourcePosition, time: EventTime?, byteCount: Int, event: OutcomeEvent) {
            self.position = position
            self.time = time
            self.byteCount = byteCount
            self.event = event
        }
    }

    /// The record's dead letter.
    package struct Letter: Sendable {
        /// Where it stands in the dead-letter topic.
        package let position: SourcePosition
        package let reason: String
        package let message: String
        package let member: String?
        /// The time at which the record was set aside.
        package let time: EventTime?
        /// True once it was sent back to the requests topic, where it is another record.
        package var isRedriven = false
        package var redrivenAt: EventTime?

        package init(
            position: SourcePosition, reason: String, message: String, member: String?, time: EventTime?
        ) {
            self.position = position
            self.reason = reason
            self.message = message
            self.member = member
            self.time = time
        }
    }

    /// How far the record has come.
    package enum State: Sendable, Hashable {
        /// It has an outcome.
        case answered
        /// The group has not finished it, nor so many records before it in its partition.
        case waiting(before: Int64)
        /// The group has finished it, and no outcome was found.
        case finished
        /// Neither is known, for this reason.
        case unknown(String)
    }

    /// The record's position in the requests topic.
    package let source: SourcePosition
    /// `nil` where the topic does not hold the record any more.
    package var request: Request?
    /// Its outcomes, in the order in which they were written. More than one after a crash.
    package var outcomes: [Outcome] = []
    package var letter: Letter?
    package var state = State.unknown("nobody has looked")

    package init(source: SourcePosition) { self.source = source }

    /// The outcome that counts: the first result, else the first error.
    package var outcome: Outcome? {
        let result = outcomes.first { if case .completed = $0.event.body { true } else { false } }
        return result ?? outcomes.first
    }

    /// The id of the request, or the position of a record that has none.
    package var requestID: String { request?.requestID ?? outcome?.event.requestID ?? source.description }

    package var traceID: String? { request?.traceID ?? outcome?.event.traceID }

    /// The time by which this life stands among others.
    package var time: EventTime? { request?.time ?? outcome?.event.receivedAt ?? letter?.time }
}

/// What the topics tell of an id.
package struct RequestLives: Sendable {
    /// How much of a topic was read.
    package struct Reading: Sendable, Hashable {
        package let topic: String
        /// The time that reading began with; `nil` where it began with the newest records, or where all was read.
        package var since: EventTime?
        /// The most records of each partition, the newest, that were read; `nil` where reading began with a time.
        package var newest: Int?
        /// The offsets that a partition holds, where the one that was looked for is not among them.
        package var held: Range<Int64>?
        /// The number of records that were read.
        package var records = 0
        /// True when the time was up before all was read.
        package var isCut = false
        /// Why the topic cannot be read.
        package var problem: String?

        package init(topic: String) { self.topic = topic }
    }

    /// What was looked for.
    package let id: String
    /// A life for each record of the requests topic that fits, oldest first.
    package let lives: [RequestLife]
    /// What was read of each topic.
    package let readings: [Reading]

    package init(id: String, lives: [RequestLife], readings: [Reading]) {
        self.id = id
        self.lives = lives
        self.readings = readings
    }
}
