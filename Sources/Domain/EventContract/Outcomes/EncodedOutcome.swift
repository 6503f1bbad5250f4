/// An outcome event as a record.
public struct EncodedOutcome: Sendable, Hashable {
    /// The destination of an outcome.
    public enum Kind: Sendable, Hashable {
        /// The outcome goes to `topics.results`.
        case result
        /// The outcome goes to `topics.errors`.
        case error
    }

    /// The destination of the record.
    public let kind: Kind
    /// The key of the request, or its `requestId` if it has no key.
    public let key: [UInt8]
    /// The event as JSON.
    public let value: [UInt8]
    /// The CloudEvents attributes, the position of the request and its trace.
    public let headers: [EventHeader]
}
