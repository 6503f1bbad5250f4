/// An outcome event as a record.
package struct EncodedOutcome: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// For `topics.results`.
        case result
        /// For `topics.errors`.
        case error
    }

    package let kind: Kind
    /// The request's key; the `requestId` when it had none.
    package let key: [UInt8]
    package let value: [UInt8]
    package let headers: [EventHeader]
}
