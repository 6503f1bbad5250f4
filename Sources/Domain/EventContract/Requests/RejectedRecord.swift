public import LocationSearch

/// A record that is no valid request. It becomes an error event and a dead letter, unless it is a worker's own
/// word: see `deservesEvent` and `isDeadLetter`.
public struct RejectedRecord: Error, Sendable, Hashable {
    /// The id of the request where it could be read, else `ce_id`, else `topic-partition-offset`. 1...128 characters.
    public let requestID: String
    /// The operation of the request; `nil` where it could not be read.
    public let operation: SearchOperation?
    /// The provider that the request names; `nil` where it names none, or could not be read.
    public let provider: ProviderID?
    /// The session of the request; `nil` where it has none, or could not be read.
    public let sessionID: String?
    /// The parts of the record that its error event takes over.
    public let envelope: RequestEnvelope
    /// An `invalid-request` whose `member` is never `nil`: it is `value` when the record as a whole is at fault, and the
    /// name of a header when that is. Or an `internal` for a record that crashes processes. The error holds none of the record's
    /// bytes.
    public let error: SearchError
    /// `completed` or `failed` for a result or an error of a worker, which somebody wrote to the requests topic.
    public let outcome: EventType?
    /// True for a record that is a dead letter, headers and all.
    public let isDeadLetter: Bool

    /// True for an error event that says that an outcome stood in the requests topic.
    public let answersOutcome: Bool

    /// False for a record that gets no error event: one that says that an outcome stood in the requests topic, and the dead
    /// letter of an outcome. Were they answered, topics that are mixed up would make errors of errors for ever.
    public var deservesEvent: Bool { outcome == nil || !(answersOutcome || isDeadLetter) }

    /// The rejection of a record with which processes have crashed. Nothing of it is decoded but `ce_id`, because decoding may be what
    /// crashes them.
    package static func crashesWorkers(_ record: IncomingRecord) -> RejectedRecord {
        let id = record.headers.last { $0.name == "ce_id" }?.text
        return RejectedRecord(
            requestID: RequestMembers.usable(id) ?? record.source.requestID, operation: nil, provider: nil,
            sessionID: nil, envelope: RequestEnvelope(source: record.source, key: record.key, time: record.timestamp),
            error: SearchError(
                .internal,
                "worker processes crashed while they ran this request and nothing else, so it is set aside as a dead letter (crashed-workers) and not tried again",
                allowsAttempt: false),
            outcome: nil, isDeadLetter: DeadLetter.isOne(record.headers), answersOutcome: false)
    }
}
