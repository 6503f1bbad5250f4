internal import CCurl

/// One easy handle with what its transfer needs; reused for one call after another. Confined to the transport.
final class Transfer {
    let easy: UnsafeMutableRawPointer
    /// Its place in the transport's list.
    let place: Int
    /// Names the call it serves: a cancellation that comes late must not hit the next one.
    var serial: UInt64 = 0
    var continuation: CheckedContinuation<Result<HTTPResponse, HTTPError>, Never>?
    private var body: [UInt8] = []
    private var isTooLarge = false
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let limit: Int
    private var host = ""
    private var isPost = false

    /// - Parameter driver: outlives the transfer; told of closed sockets.
    init?(place: Int, configuration: HTTPConfiguration, driver: CurlDriver) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.place = place
        limit = configuration.maxResponseBytes
        // Both pointers are unretained: the transport keeps transfers and driver for as long as the handle lives.
        let this = Unmanaged.passUnretained(self).toOpaque()
        locsearch_set_pointer(easy, CURLOPT_PRIVATE, this)
        locsearch_set_write(easy, Transfer.write, this)
        locsearch_set_close(easy, CurlDriver.closeSocket, Unmanaged.passUnretained(driver).toOpaque())
        locsearch_set_long(easy, CURLOPT_NOSIGNAL, 1)
        locsearch_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        locsearch_allow_http_only(easy)
        locsearch_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
        locsearch_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        // A body of usual size in two reads; 256 of these stay below 10 MB.
        locsearch_set_long(easy, CURLOPT_BUFFERSIZE, 32768)
        // All that this libcurl can decode: gzip at least, br where it was built with it.
        locsearch_set_text(easy, CURLOPT_ACCEPT_ENCODING, "")
        locsearch_set_text(easy, CURLOPT_USERAGENT, configuration.userAgent)
        locsearch_set_text(easy, CURLOPT_PROXY, configuration.proxy ?? "")
        if let caFile = configuration.caFile { locsearch_set_text(easy, CURLOPT_CAINFO, caFile) }
        locsearch_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, max(1, configuration.connectTimeout.roundedUpMilliseconds))
        locsearch_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
    }

    deinit {
        curl_slist_free_all(headers)
        curl_easy_cleanup(easy)
    }

    /// Takes over a call's own options. - Parameter time: more than zero.
    func prepare(_ request: HTTPRequest, within time: Duration) {
        body = []
        isTooLarge = false
        host = request.host
        locsearch_set_text(easy, CURLOPT_URL, request.url)
        locsearch_set_long(easy, CURLOPT_TIMEOUT_MS, max(1, time.roundedUpMilliseconds))
        switch request.method {
        case .get:
            if isPost { locsearch_set_long(easy, CURLOPT_HTTPGET, 1) }
            isPost = false
        case .post(let bytes):
            isPost = true
            locsearch_set_long(easy, CURLOPT_POST, 1)
            locsearch_set_large(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
            bytes.withUnsafeBytes { bytes in
                _ = locsearch_set_pointer(
                    easy, CURLOPT_COPYPOSTFIELDS,
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(easy)))
            }
        }
        guard headers != nil || !request.fields.isEmpty || isPost else { return }
        let old = headers
        headers = nil
        for field in request.fields { headers = curl_slist_append(headers, "\(field.name): \(field.value)") }
        // Without a wait for "100 Continue".
        if isPost { headers = curl_slist_append(headers, "Expect:") }
        locsearch_set_headers(easy, headers)
        curl_slist_free_all(old)
    }

    /// The answer, once the transfer is over. Leaves the transfer ready for the next call.
    func outcome(_ code: CURLcode) -> Result<HTTPResponse, HTTPError> {
        let status = locsearch_get_long(easy, CURLINFO_RESPONSE_CODE)
        defer { body = [] }
        guard code == CURLE_OK else {
            if isTooLarge {
                return .failure(HTTPError(.tooLarge, "\(host) sent more than \(limit) bytes"))
            }
            return .failure(HTTPError(code, host: host, hasStatus: status != 0))
        }
        var response = HTTPResponse(
            status: status, body: body,
            contentType: locsearch_get_text(easy, CURLINFO_CONTENT_TYPE).map { String(cString: $0) })
        if status != 200 {
            response.location = locsearch_response_header(easy, "Location").map { String(cString: $0) }
            response.retryAfter = locsearch_response_header(easy, "Retry-After").map { String(cString: $0) }
        }
        return .success(response)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if body.isEmpty {
            let announced = locsearch_get_large(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
            if announced > limit { isTooLarge = true }
            body.reserveCapacity(min(limit, max(bytes.count, Int(announced))))
        }
        if isTooLarge || body.count + bytes.count > limit {
            isTooLarge = true
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// Called by curl within a call of the transport, so in its isolation; returning less than was given ends the transfer.
    private static let write: locsearch_write_fn = { data, size, count, context in
        guard let data, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return transfer.take(UnsafeRawBufferPointer(start: data, count: size * count)) ? size * count : 0
    }
}

extension Duration {
    var roundedUpMilliseconds: Int {
        let (seconds, attoseconds) = components
        return Int(clamping: min(seconds, 86_400) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
