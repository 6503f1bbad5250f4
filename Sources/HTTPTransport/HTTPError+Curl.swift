internal import CCurl

extension HTTPError {
    /// - Parameter hasStatus: whether the answer had begun: tells a reset from a truncated answer.
    init(_ code: CURLcode, host: String, hasStatus: Bool) {
        let kind: Kind =
            switch code {
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dns
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY: .connect
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
                CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_USE_SSL_FAILED:
                .tls
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_GOT_NOTHING, CURLE_SEND_ERROR: .reset
            case CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM: hasStatus ? .truncated : .reset
            case CURLE_PARTIAL_FILE, CURLE_BAD_CONTENT_ENCODING: .truncated
            case CURLE_FILESIZE_EXCEEDED, CURLE_OUT_OF_MEMORY: .tooLarge
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: .protocolViolation
            case CURLE_URL_MALFORMAT: .invalidRequest
            default: hasStatus ? .truncated : .protocolViolation
            }
        // curl's own texts for a code are constant: they hold no URL.
        self.init(kind, "\(host): \(String(cString: curl_easy_strerror(code)).lowercased())")
    }
}
