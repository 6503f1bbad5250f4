public import LocationSearch

/// A record that is no valid request. It becomes an error event and a dead letter.
public struct RejectedRecord: Error, Sendable, Hashable {
    /// The request's own where it could be read, else `ce_id`, else `topic-partition-offset`. 1...128 characters.
    public let requestID: String
    /// `nil` where it could not be read, as the next two.
    public let operation: SearchOperation?
    /// The provider that the request names.
    public let provider: ProviderID?
    public let sessionID: String?
    public let envelope: RequestEnvelope
    /// `invalid-request`. `member` is never `nil`: what is wrong with the record as a whole is `value`, what is wrong
    /// with a header bears the header's name. Holds none of the record's bytes.
    public let error: SearchError
}
