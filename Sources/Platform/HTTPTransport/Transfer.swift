internal import Basics
internal import CCurl
internal import EventLoop

/// One easy handle with all state of a call. It serves one call after another. It is confined to the transport's actor.
/// So are curl's callbacks, because curl makes them only while the transport calls curl.
final class Transfer {
    /// The handle, which this object frees.
    let easy: UnsafeMutableRawPointer
    /// The number of the current call, 0 between calls, so that a late cancellation does not affect the next call.
    var number: UInt64 = 0
    /// Reports the end of the current call; `nil` between calls. The code that removes it calls it, so it is called once.
    var end: HTTPCompletion?

    private var request = HTTPRequest(url: "")
    private var deadline = Instant(nanoseconds: 0)
    private var address: RequestAddress
    private var headers: RequestHeaders
    private var isPost = false
    private var bufferBytes = 0
    private var head: ResponseHead
    private var body: ResponseBody
    /// How often curl sent the call's request, or was about to send it.
    private var sends = 0
    private var isFresh = false
    private let loop: EventLoop

    /// Makes a transfer without a call; `nil` if memory is short.
    /// - Parameter driver: Notified about sockets that open and close.
    init?(configuration: HTTPConfiguration, driver: CurlDriver) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        head = ResponseHead(keepsDate: configuration.keepsDate)
        body = ResponseBody(limit: configuration.maxResponseBytes)
        loop = driver.loop
        address = RequestAddress(proxy: configuration.proxy, secureProxy: configuration.httpsProxy)
        headers = RequestHeaders(userAgent: configuration.userAgent)

        // Unretained is safe: this object owns the handle and frees it in `deinit`. The driver outlives every transfer
        // in progress, and the connections belong to the driver's multi handle.
        let this = Unmanaged.passUnretained(self).toOpaque()
        locsearch_set_pointer(easy, CURLOPT_PRIVATE, this)
        locsearch_set_write(easy, Transfer.onBody, this)
        locsearch_set_header(easy, Transfer.onHeader, this)
        locsearch_set_before_request(easy, Transfer.onRequest, this)
        locsearch_set_socket_callbacks(
            easy, CurlDriver.onSocketOpened, CurlDriver.onCloseSocket, Unmanaged.passUnretained(driver).toOpaque())

        setFixedOptions(configuration)
        locsearch_set_headers(easy, headers.list)
    }

    deinit { curl_easy_cleanup(easy) }

    /// Sets the options that are the same for all calls.
    private func setFixedOptions(_ configuration: HTTPConfiguration) {
        locsearch_set_long(easy, CURLOPT_NOSIGNAL, 1)
        locsearch_set_quick_exit(easy)
        locsearch_allow_http_only(easy)
        locsearch_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        locsearch_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
        locsearch_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        locsearch_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        locsearch_set_long(easy, CURLOPT_TCP_NODELAY, 1)
        locsearch_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)

        // curl must send the URL exactly as the caller wrote it.
        locsearch_set_long(easy, CURLOPT_PATH_AS_IS, 1)

        // A response whose head announces a larger body is rejected before the body arrives.
        locsearch_set_large(easy, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(body.limit))

        locsearch_set_text(easy, CURLOPT_PROXY, configuration.proxy ?? "")
        locsearch_set_text(easy, CURLOPT_NOPROXY, configuration.noProxy)
        if let caFile = configuration.caFile {
            locsearch_set_text(easy, CURLOPT_CAINFO, caFile)
            locsearch_set_text(easy, CURLOPT_PROXY_CAINFO, caFile)
        }
        locsearch_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, max(1, configuration.connectTimeout.roundedUpMilliseconds))
    }

    /// Sets the size of the read buffer, 1 KB to 512 KB. curl allocates it for each call.
    func setReceiveBuffer(bytes: Int) {
        guard bytes != bufferBytes else { return }
        bufferBytes = bytes
        locsearch_set_long(easy, CURLOPT_BUFFERSIZE, bytes)
    }

    /// Sets all options that differ between calls.
    /// - Parameter time: The remaining time until `deadline`, more than zero.
    /// - Throws: `invalidRequest` for a URL or body that curl does not accept.
    func prepare(_ request: HTTPRequest, before deadline: Instant, in time: Duration) throws(HTTPError) {
        self.request = request
        self.deadline = deadline
        body.reset()
        head.reset()
        // After a stale connection, the next call opens a new one, because it is most likely a retry of that call.
        if isFresh != (sends > 1) { locsearch_set_long(easy, CURLOPT_FRESH_CONNECT, isFresh ? 0 : 1) }
        (isFresh, sends) = (sends > 1, 0)

        guard address.set(request, of: easy) == CURLE_OK else {
            throw HTTPError(.invalidRequest, "\(request.host): the URL is too long")
        }
        locsearch_set_long(easy, CURLOPT_TIMEOUT_MS, time.roundedUpMilliseconds)
        try setMethod(request)
        if headers.update(request.fields, isPost: isPost) { locsearch_set_headers(easy, headers.list) }
    }

    private func setMethod(_ request: HTTPRequest) throws(HTTPError) {
        switch request.method {
        case .get:
            if isPost { locsearch_set_long(easy, CURLOPT_HTTPGET, 1) }
            isPost = false
        case .post(let bytes):
            isPost = true
            locsearch_set_long(easy, CURLOPT_POST, 1)
            locsearch_set_large(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
            let code = bytes.withUnsafeBytes { bytes in
                // An empty array has no address, which for curl means "read the body from a callback".
                guard let start = bytes.baseAddress else { return locsearch_set_text(easy, CURLOPT_COPYPOSTFIELDS, "") }
                return locsearch_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: start))
            }
            guard code == CURLE_OK else { throw HTTPError(.invalidRequest, "\(request.host): the body is too large") }
        }
    }

    /// Returns the call's result, after curl has finished it. Call it once, because it moves the body out.
    func outcome(_ code: CURLcode) -> Result<HTTPResponse, HTTPError> {
        var received = body.move()

        // curl treats a connection that ends within the headers as a complete response without a body.
        let code = code == CURLE_OK && !head.isComplete ? CURLE_PARTIAL_FILE : code
        guard code == CURLE_OK else { return .failure(failure(code)) }

        if let size = received.gunzippedCount {
            guard size <= body.limit else { return .failure(failure(CURLE_FILESIZE_EXCEEDED)) }
            guard let content = received.gunzipped(count: size) else {
                return .failure(failure(CURLE_BAD_CONTENT_ENCODING))
            }
            received = content
        }
        return .success(
            HTTPResponse(
                status: locsearch_get_long(easy, CURLINFO_RESPONSE_CODE), body: received, location: head.location,
                retryAfter: head.retryAfter, readAt: head.retryAfter.map { _ in loop.wallNow },
                contentType: head.contentType, date: head.date))
    }

    /// Returns the error of a call that ended with `code`.
    private func failure(_ code: CURLcode) -> HTTPError {
        let host = request.host
        if sends > 1 {
            return HTTPError(.staleConnection, "\(host): the reused connection closed before the answer arrived")
        }
        if head.isTooLarge || body.isTooLarge || code == CURLE_FILESIZE_EXCEEDED {
            return HTTPError(.tooLarge, "\(host): the answer is larger than \(body.limit) bytes")
        }

        // The proxy's answer to CONNECT. After a request was sent, only the code of the failure counts.
        let proxyStatus = locsearch_get_long(easy, CURLINFO_HTTP_CONNECTCODE)
        if proxyStatus >= 300, sends == 0 {
            return HTTPError(.connect, "\(host): the proxy refused the connection (status \(proxyStatus))")
        }

        let isConnected = locsearch_get_large(easy, CURLINFO_PRETRANSFER_TIME_T) > 0
        return HTTPError(
            code, host: host, progress: head.hasBegun ? .reading : isConnected ? .waiting : .connecting,
            // curl counts in whole milliseconds and may be early by one.
            isPastDeadline: deadline - loop.now < .milliseconds(2))
    }

    // MARK: - curl's callbacks
    //
    // A callback that returns less than the number of bytes it received ends the transfer.

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        body.take(bytes, announced: { Int(clamping: locsearch_get_large(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)) })
    }

    /// Returns the transfer of a callback's context. Unretained is safe: a transfer outlives its handle's callbacks.
    private static func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// Stops curl from sending a request again. curl would do so if a reused connection ended before the first byte of
    /// a response, or a server rejected an HTTP/2 stream. The server may have received the first request.
    private static let onRequest: locsearch_request_fn = { context, _, _, _, _ in
        guard let context else { return CURL_PREREQFUNC_ABORT }
        let transfer = transfer(context)
        transfer.sends += 1
        return transfer.sends == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    private static let onBody: locsearch_write_fn = { data, size, count, context in
        guard let context else { return 0 }
        // bounded: both describe bytes that are in memory
        let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
        return transfer(context).takeBody(bytes) ? bytes.count : 0
    }

    private static let onHeader: locsearch_write_fn = { data, size, count, context in
        guard let context else { return 0 }
        // bounded: both describe bytes that are in memory
        let line = UnsafeRawBufferPointer(start: data, count: size * count)
        return transfer(context).head.take(line) ? line.count : 0
    }
}

extension Duration {
    /// Whole milliseconds, rounded up; at least 0, at most a day.
    var roundedUpMilliseconds: Int {
        min(max(0, milliseconds(roundedUp: true)), 86_400_000)
    }
}
