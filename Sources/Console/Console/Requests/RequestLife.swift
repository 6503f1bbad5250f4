package import EventContract
package import LocationSearch

/// The history of one record of the requests topic, as far as it can be read from the topics.
package struct RequestLife: Sendable {
    /// The record itself.
    package struct Request: Sendable {
        /// The record's timestamp; `nil` if it has none.
        package let time: WallTime?
        package let key: [UInt8]?
        package let value: [UInt8]?
        /// The headers, in order.
        package let headers: [RecordHeader]
        /// The id of the request, or the position of a record without one.
        package let requestID: String
        package let operation: String?
        package let sessionID: String?
        package let traceID: String?
        /// The source of the event, which identifies its sender. `nil` if the record has none.
        package let producer: String?
        /// The time from which the outcome is not wanted; `nil` if the request names none.
        package let expiry: WallTime?
        /// Why the record is not a valid request; `nil` if it is.
        package let fault: String?

        package init(
            time: WallTime?, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader], requestID: String,
            operation: String? = nil, sessionID: String? = nil, traceID: String? = nil, producer: String? = nil,
            expiry: WallTime? = nil, fault: String? = nil
        ) {
            (self.time, self.key, self.value, self.headers) = (time, key, value, headers)
            (self.requestID, self.operation, self.sessionID) = (requestID, operation, sessionID)
            (self.traceID, self.producer, self.expiry, self.fault) = (traceID, producer, expiry, fault)
        }
    }

    /// One record of an outcome topic.
    package struct Outcome: Sendable {
        /// The position in its topic.
        package let position: SourcePosition
        /// The record's timestamp, if it has one.
        package let time: WallTime?
        /// The bytes of the record's value.
        package let byteCount: Int
        package let event: OutcomeEvent

        package init(position: SourcePosition, time: WallTime?, byteCount: Int, event: OutcomeEvent) {
            (self.position, self.time, self.byteCount, self.event) = (position, time, byteCount, event)
        }
    }

    /// The record's dead letter.
    package struct Letter: Sendable {
        /// The position in the dead-letter topic.
        package let position: SourcePosition
        package let reason: String
        package let message: String
        package let member: String?
        /// The time at which the dead letter was written.
        package let time: WallTime?
        /// True once it was sent back to the requests topic, as a new record.
        package var isRedriven = false
        package var redrivenAt: WallTime?

        package init(position: SourcePosition, reason: String, message: String, member: String?, time: WallTime?) {
            (self.position, self.time) = (position, time)
            (self.reason, self.message, self.member) = (reason, message, member)
        }
    }

    /// The progress of the record.
    package enum State: Sendable, Hashable {
        /// It has an outcome.
        case answered
        /// The group has not finished it, nor this number of records before it in its partition.
        case waiting(before: Int64)
        /// The group has finished it, and no outcome was found.
        case finished
        /// The progress is unknown, for this reason.
        case unknown(String)
    }

    /// The record's position in the requests topic.
    package let source: SourcePosition
    /// `nil` if the topic does not contain the record.
    package var request: Request?
    /// Its outcomes, in the order in which they were written. More than one only after a crash.
    package var outcomes: [Outcome] = []
    package var letter: Letter?
    /// The most that providers can charge for the decisive outcome; empty if that is not known, or if they have no prices.
    package var charges: [PriceList.Cost] = []
    package var state = State.unknown("nobody has looked")

    package init(source: SourcePosition) { self.source = source }

    /// The decisive outcome: the first result, otherwise the first error.
    package var outcome: Outcome? {
        let result = outcomes.first { if case .completed = $0.event.body { true } else { false } }
        return result ?? outcomes.first
    }

    /// The id of the request, or the position of a record without one.
    package var requestID: String { request?.requestID ?? outcome?.event.requestID ?? source.description }

    package var traceID: String? { request?.traceID ?? outcome?.event.traceID }

    /// The time that orders lives.
    package var time: WallTime? { request?.time ?? outcome?.event.receivedAt ?? letter?.time }
}

/// The history of all requests with an id.
package struct RequestLives: Sendable {
    /// The part of a topic that was read.
    package struct Reading: Sendable, Hashable {
        package let topic: String
        /// The time at which reading began; `nil` if it began with the newest records, or if everything was read.
        package var since: WallTime?
        /// The maximum number of newest records read per partition; `nil` if reading began at a time.
        package var newest: Int?
        /// The offsets that the partition contains, if the wanted one is not among them.
        package var held: Range<Int64>?
        /// The number of records that were read.
        package var records = 0
        /// True if the time ran out before everything was read.
        package var isCut = false
        /// Why the topic cannot be read.
        package var problem: String?

        package init(topic: String) { self.topic = topic }
    }

    /// The id that was searched for.
    package let id: String
    /// One life per matching record of the requests topic, oldest first.
    package var lives: [RequestLife]
    /// The part that was read of each topic.
    package let readings: [Reading]

    package init(id: String, lives: [RequestLife], readings: [Reading]) {
        (self.id, self.lives, self.readings) = (id, lives, readings)
    }
}
