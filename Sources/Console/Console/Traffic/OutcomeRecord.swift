package import EventContract

/// One record of an outcome topic as the console keeps it. A class, because the log, its readers and the routes share it.
package final class OutcomeRecord: Sendable {
    /// The position in the outcome topic.
    package let position: SourcePosition
    package let key: [UInt8]?
    package let value: [UInt8]?
    /// The record's headers, in their order.
    package let headers: [EventHeader]
    /// The outcome event in the record; `nil` for a record that holds none.
    package let event: OutcomeEvent?
    /// The time at which the request was written to its topic; `nil` when the request was not seen.
    package let requestedAt: EventTime?
    /// The time by which the record stands among others: that of the outcome, but never one that lies ahead.
    let time: EventTime

    /// - Parameters:
    ///   - position: where the record stands.
    ///   - writtenAt: the record's timestamp, if it has one.
    ///   - now: the time at which the record was read.
    ///   - requestTime: returns the time at which the request at a position was written, if it is known.
    package init(
        position: SourcePosition, key: [UInt8]?, value: [UInt8]?, headers: [EventHeader], writtenAt: EventTime? = nil,
        now: EventTime = .now(), requestTime: (SourcePosition) -> EventTime? = { _ in nil }
    ) {
        self.position = position
        self.key = key
        self.value = value
        self.headers = headers
        let event = try? OutcomeReader().read(value: value, headers: headers)
        self.event = event
        requestedAt = event?.source.flatMap(requestTime)
        time = min(event?.completedAt ?? writtenAt ?? now, now)
    }

    /// The bytes that the record takes up, roughly: the event holds as much again as the value.
    var byteCount: Int {
        let headerBytes = headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 64 }
        return 2 * (value?.count ?? 0) + (key?.count ?? 0) + headerBytes + 512
    }

    /// `ok` for a result, the error's code for an error, `unreadable` for what is no outcome event.
    var code: String {
        switch event?.body {
        case .completed: "ok"
        case .failed(let failure): failure.code
        case nil: "unreadable"
        }
    }

    /// The whole milliseconds from writing the request to a worker's taking it; `nil` when the request was not seen.
    var waitedMilliseconds: Int? { Self.milliseconds(from: requestedAt, to: event?.receivedAt) }

    /// The whole milliseconds from a worker's taking the request to its outcome.
    var workedMilliseconds: Int? { Self.milliseconds(from: event?.receivedAt, to: event?.completedAt) }

    /// The whole milliseconds from writing the request to its outcome; without the wait when the request was not seen.
    var tookMilliseconds: Int? {
        Self.milliseconds(from: requestedAt ?? event?.receivedAt, to: event?.completedAt)
    }

    /// Clocks of two machines may differ, so that an end seems to lie before its beginning.
    private static func milliseconds(from start: EventTime?, to end: EventTime?) -> Int? {
        guard let start, let end else { return nil }
        return Int(max(0, end.milliseconds - start.milliseconds))
    }
}

/// An outcome of the log, and its id.
struct LoggedOutcome {
    let id: Int
    let record: OutcomeRecord
    /// The row of the page's table as JSON, which is made once for all pages.
    let row: [UInt8]
}

/// The outcomes behind a reader's place, and the number of those that were forgotten before it came.
struct OutcomeBatch {
    let entries: [LoggedOutcome]
    let missed: Int
}
