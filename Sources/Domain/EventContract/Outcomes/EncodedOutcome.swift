/// An outcome event as a record.
public struct EncodedOutcome: Sendable, Hashable {
    /// Names the topic that an outcome goes to.
    public enum Kind: Sendable, Hashable {
        /// The outcome goes to `topics.results`.
        case result
        /// The outcome goes to `topics.errors`.
        case error
    }

    /// The topic that the record is for.
    public let kind: Kind
    /// The key of the request, or its `requestId` if it had none.
    public let key: [UInt8]
    /// The event as JSON.
    public let value: [UInt8]
    /// The CloudEvents attributes, the position of the request and its trace.
    public let headers: [EventHeader]
}
