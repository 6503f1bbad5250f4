/// An outcome event as a record.
public struct EncodedOutcome: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// For `topics.results`.
        case result
        /// For `topics.errors`.
        case error
    }

    public let kind: Kind
    /// The request's key; the `requestId` when it had none.
    public let key: [UInt8]
    public let value: [UInt8]
    public let headers: [EventHeader]
}
