/// The reason why a call has no answer. Its text names the host at most, never the URL, which may hold a key.
public struct HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure that callers treat differently.
    public enum Kind: String, Sendable, CaseIterable {
        /// The host name has no address.
        case dns
        /// Nobody listens there, or there is no way to it.
        case connect
        /// The TLS handshake failed, or the certificate is not to be trusted.
        case tls
        /// The deadline passed while connecting, sending, waiting or reading.
        case timeout
        /// The connection ended before the first byte of the answer.
        case reset
        /// The connection of an earlier call ended before the first byte of the answer. The server may have received the
        /// request.
        case staleConnection
        /// The connection ended within the answer, or its encoding is damaged.
        case truncated
        /// The answer is larger than the limit.
        case tooLarge
        /// The answer is not HTTP.
        case protocolViolation
        /// The task was cancelled, or the transport shut down.
        case cancelled
        /// The request itself cannot be sent: no http(s) URL, a line break in a header.
        case invalidRequest
    }

    /// The kind of failure, which decides about a retry and about the outcome's code.
    public let kind: Kind
    /// One line for a person.
    public let description: String

    /// - Parameter description: one line for a person, which holds nothing of the URL but the host.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
