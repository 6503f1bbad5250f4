public import LocationSearch

/// A record that is not a valid request. It gets an error event if `deservesEvent`, and a dead letter unless it is one
/// already (`isDeadLetter`).
public struct RejectedRecord: Error, Sendable, Hashable {
    /// The request's id if it can be read, otherwise `ce_id`, otherwise `topic-partition-offset`. 1...128 characters.
    public let requestID: String
    /// The operation of the request; `nil` if it could not be read.
    public let operation: SearchOperation?
    /// The provider that the request names; `nil` if it names none, or could not be read.
    public let provider: ProviderID?
    /// The session of the request; `nil` if it has none, or could not be read.
    public let sessionID: String?
    /// The parts of the record that are copied to its error event.
    public let envelope: RequestEnvelope
    /// An `invalid-request` whose `member` is never `nil`: the name of a member or header, or `value` for the record as a
    /// whole. For a record that crashes processes, an `internal`. The error holds none of the record's bytes.
    public let error: SearchError
    /// `completed` or `failed` for a worker's result or error that was written to the requests topic; otherwise `nil`.
    public let outcome: EventType?
    /// True for a record that is a dead letter, including its headers.
    public let isDeadLetter: Bool

    /// True if the record itself is a worker's error event about an outcome in the requests topic.
    public let answersOutcome: Bool

    /// False for two records: an error event about an outcome (`answersOutcome`), and the dead letter of an outcome.
    /// Otherwise a worker that reads its own outcomes would write errors about errors without end.
    public var deservesEvent: Bool { outcome == nil || !(answersOutcome || isDeadLetter) }

    /// Returns the rejection of a record with which processes have crashed. Only `ce_id` is decoded, because decoding may
    /// be the cause of the crash.
    package static func crashesWorkers(_ record: ConsumerRecord) -> RejectedRecord {
        let id = record.headers.last { $0.name == "ce_id" }?.text
        return RejectedRecord(
            requestID: RequestMembers.usable(id) ?? record.source.requestID, operation: nil, provider: nil,
            sessionID: nil, envelope: RequestEnvelope(source: record.source, key: record.key, time: record.time),
            error: SearchError(
                .internal,
                "workers crashed while they ran only this request, so it became a dead letter (crashed-workers) and is not retried",
                allowsAttempt: false),
            outcome: nil, isDeadLetter: DeadLetter.isOne(record.headers), answersOutcome: false)
    }
}
