/// Why a call has no response. Its text contains at most the host, never the URL, which may contain an API key.
public struct HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure that callers handle differently.
    public enum Kind: String, Sendable, CaseIterable {
        /// The host name has no address.
        case dns
        /// The host refused the connection or is unreachable.
        case connect
        /// The TLS handshake failed, or the certificate is not trusted.
        case tls
        /// The deadline passed while connecting, sending, waiting or reading.
        case timeout
        /// The connection ended before the first byte of the response.
        case reset
        /// A reused connection ended before the first byte of the response. The server may have received the request.
        case staleConnection
        /// The connection ended within the response, or its encoding is damaged.
        case truncated
        /// The response is larger than the limit.
        case tooLarge
        /// The response is not HTTP.
        case protocolViolation
        /// The task was cancelled, or the transport was shut down.
        case cancelled
        /// The request is invalid: not an http(s) URL, or a line break in a header.
        case invalidRequest
    }

    /// The kind of failure, which determines retries and the outcome's error code.
    public let kind: Kind
    /// One line for operators.
    public let description: String

    /// - Parameter description: One line for operators. Contains no part of the URL except the host.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
