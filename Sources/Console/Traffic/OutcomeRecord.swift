package import EventContract

/// One record of an outcome topic as the console keeps it. A class, because the log, its readers and the routes share it.
package final class OutcomeRecord: Sendable {
    /// The position in the outcome topic.
    package let position: SourcePosition
    /// The record's key.
    package let key: [UInt8]?
    /// The record's value.
    package let value: [UInt8]?
    /// The record's headers, in their order.
    package let headers: [EventHeader]
    /// The outcome event in the record; `nil` for a record that holds none.
    package let event: OutcomeEvent?

    /// - Parameter position: where the record stands.
    package init(position: SourcePosition, key: [UInt8]?, value: [UInt8]?, headers: [EventHeader]) {
        self.position = position
        self.key = key
        self.value = value
        self.headers = headers
        event = try? OutcomeReader().read(value: value, headers: headers)
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

    /// The time from taking the request to writing its outcome, in whole milliseconds.
    var latencyMilliseconds: Int? {
        guard let received = event?.receivedAt, let completed = event?.completedAt else { return nil }
        return Int(max(0, completed.milliseconds - received.milliseconds))
    }
}
