internal import CCurl

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

extension HTTPError {
    /// The progress of a failed call. The same curl code has different meanings at different steps.
    enum Progress {
        /// There is no connection yet.
        case connecting
        /// The connection is open, and the response has not begun.
        case waiting
        /// The response has begun.
        case reading
    }

    /// Converts a curl code.
    /// - Parameter isPastDeadline: Distinguishes an expired deadline from a connect timeout before it.
    init(_ code: CURLcode, host: String, progress: Progress, isPastDeadline: Bool) {
        let kind = Self.kind(of: code, progress: progress, isPastDeadline: isPastDeadline)

        // All texts are constant, including those of curl's codes, so they contain no part of the URL.
        let text =
            switch (kind, progress) {
            case (.timeout, .connecting): "the deadline passed while connecting"
            case (.timeout, .waiting): "the deadline passed while waiting for the answer"
            case (.timeout, .reading): "the deadline passed while reading the answer"
            case (.connect, _) where code == CURLE_OPERATION_TIMEDOUT: "no connection within the connect timeout"
            case (.reset, _): "the connection closed before the answer arrived"
            case (.truncated, _): "the answer ended early or is damaged (\(Self.text(of: code)))"
            default: Self.text(of: code)
            }
        self.init(kind, "\(host): \(text)")
    }

    private static func kind(of code: CURLcode, progress: Progress, isPastDeadline: Bool) -> Kind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dns
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY: .connect
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            .tls
        case CURLE_OPERATION_TIMEDOUT: progress == .connecting && !isPastDeadline ? .connect : .timeout
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            progress == .reading ? .truncated : .reset
        case CURLE_PARTIAL_FILE, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: .truncated
        // curl also reports an oversized header line as out of memory; newer versions use CURLE_TOO_LARGE (100).
        case CURLE_FILESIZE_EXCEEDED, CURLE_OUT_OF_MEMORY, CURLcode(100): .tooLarge
        case CURLE_URL_MALFORMAT: .invalidRequest
        // Once a connection is open, curl uses this code for header lines and trailers without a colon.
        case CURLE_BAD_FUNCTION_ARGUMENT where progress == .connecting: .invalidRequest
        default: progress == .reading ? .truncated : .protocolViolation
        }
    }

    private static func text(of code: CURLcode) -> String {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: "the host name has no address"
        case CURLE_COULDNT_RESOLVE_PROXY: "the proxy's host name has no address"
        case CURLE_COULDNT_CONNECT: "the connection was refused, or the host is unreachable"
        case CURLE_SSL_CONNECT_ERROR: "the TLS handshake failed; the port may serve http, not https"
        case CURLE_PEER_FAILED_VERIFICATION: "the TLS certificate is not trusted"
        case CURLE_SSL_CACERT_BADFILE: "the CA file cannot be read"
        case CURLE_URL_MALFORMAT: "the URL is malformed"
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: "the answer is not HTTP"
        default: String(cString: curl_easy_strerror(code)).lowercased()
        }
    }
}
