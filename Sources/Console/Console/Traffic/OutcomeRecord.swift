package import EventContract

/// One record of an outcome topic. A class, because the log, its readers and the routes share it.
package final class OutcomeRecord: Sendable {
    /// The position in the outcome topic.
    package let position: SourcePosition
    package let key: [UInt8]?
    package let value: [UInt8]?
    /// The record's headers, in order.
    package let headers: [RecordHeader]
    /// The outcome event in the record; `nil` if the record is not one.
    package let event: OutcomeEvent?
    /// The time at which the request was written to its topic; `nil` if the request was not read.
    package let requestedAt: WallTime?
    /// The time that orders records: the outcome's, but never later than the present.
    let time: WallTime

    /// - Parameters:
    ///   - position: the record's position.
    ///   - writtenAt: the record's timestamp, if it has one.
    ///   - now: the time at which the record was read.
    ///   - requestTime: returns the time at which the request at a position was written, if it is known.
    package init(
        position: SourcePosition, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader], writtenAt: WallTime? = nil,
        now: WallTime = .now(), requestTime: (SourcePosition) -> WallTime? = { _ in nil }
    ) {
        (self.position, self.key, self.value, self.headers) = (position, key, value, headers)
        let event = try? OutcomeReader().read(value: value, headers: headers)
        self.event = event
        requestedAt = event?.source.flatMap(requestTime)
        time = min(event?.completedAt ?? writtenAt ?? now, now)
    }

    /// The approximate memory of the record, in bytes: the event takes as much again as the value.
    var byteCount: Int {
        let headerBytes = headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 64 }
        return 2 * (value?.count ?? 0) + (key?.count ?? 0) + headerBytes + 512
    }

    /// `ok` for a result, the error's code for an error, `unreadable` if the record is not an outcome event.
    var code: String {
        switch event?.body {
        case .completed: "ok"
        case .failed(let failure): failure.code
        case nil: "unreadable"
        }
    }

    /// The whole milliseconds from writing the request until a worker took it; `nil` if the request was not read.
    var waitedMilliseconds: Int? { Self.milliseconds(from: requestedAt, to: event?.receivedAt) }

    /// The whole milliseconds from the time at which a worker began the request to its outcome.
    var workedMilliseconds: Int? { Self.milliseconds(from: event?.receivedAt, to: event?.completedAt) }

    /// The whole milliseconds from writing the request to its outcome; without the wait if the request was not read.
    var tookMilliseconds: Int? {
        Self.milliseconds(from: requestedAt ?? event?.receivedAt, to: event?.completedAt)
    }

    /// Two machines' clocks may differ, so that an end seems to precede its start.
    private static func milliseconds(from start: WallTime?, to end: WallTime?) -> Int? {
        guard let start, let end else { return nil }
        return Int(max(0, end.milliseconds - start.milliseconds))
    }
}

/// An outcome in the log, and its id.
struct LoggedOutcome {
    let id: Int
    let record: OutcomeRecord
    /// The row of the page's table as JSON, made once for all pages.
    let row: [UInt8]
}
