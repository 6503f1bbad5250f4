internal import CCurl
internal import LibC

/// Sets the URL and the proxy of a transfer's calls.
///
/// curl formats a URL three times, letter by letter. Therefore curl gets the origin as its URL only once. The path and
/// query, which differ between calls, are set as the request's target, which curl copies. curl also gets the origin in
/// parsed form. Otherwise it would parse and reassemble it at each call, which takes 10,000 instructions.
struct RequestAddress: ~Copyable {
    /// True with a proxy, which may require the whole URL as the target.
    private let isProxied: Bool
    /// The proxies for http and https URLs, if they differ; `nil` if one is set for both.
    private let proxies: (http: String, https: String)?
    /// The origin that curl has as its URL, such as `http://host:port`; empty if curl has a whole URL.
    private var origin: [CChar] = []
    /// The parsed origin, for `CURLOPT_CURLU`. curl reads it at each call; it is freed with this value.
    private let parts: OpaquePointer?

    init(proxy: String?, secureProxy: String?) {
        isProxied = proxy != nil || secureProxy != nil
        proxies = proxy == secureProxy ? nil : (proxy ?? "", secureProxy ?? "")
        parts = curl_url()
    }

    deinit { curl_url_cleanup(parts) }

    /// Makes `easy` call the request's URL, which must have a scheme and a host, as checked by `validated()`.
    mutating func set(_ request: HTTPRequest, of easy: UnsafeMutableRawPointer) -> CURLcode {
        if let proxies { locsearch_set_text(easy, CURLOPT_PROXY, request.isSecure ? proxies.https : proxies.http) }

        // Swift's implicit conversion of a string to a pointer would copy it.
        return request.url.withCString { url in
            let scheme = strcspn(url, ":") + 3
            let target = url + scheme + strcspn(url + scheme, "/?#")

            // Without a path, or with a fragment, the target is not simply the rest of the URL.
            guard !isProxied, strspn(target, "/") > 0, strcspn(target, "#") == strlen(target) else {
                origin = []
                locsearch_set_url_parts(easy, nil)
                let code = locsearch_set_text(easy, CURLOPT_REQUEST_TARGET, nil)
                return code == CURLE_OK ? locsearch_set_text(easy, CURLOPT_URL, url) : code
            }

            let code = setOrigin(UnsafeBufferPointer(start: url, count: target - url), of: easy)
            return code == CURLE_OK ? locsearch_set_text(easy, CURLOPT_REQUEST_TARGET, target) : code
        }
    }

    private mutating func setOrigin(_ new: UnsafeBufferPointer<CChar>, of easy: UnsafeMutableRawPointer) -> CURLcode {
        let isTheSame = origin.withUnsafeBytes { $0.hasSameBytes(as: UnsafeRawBufferPointer(new)) }
        guard !isTheSame else { return CURLE_OK }
        let (code, isTakenApart) = (new + [0]).withUnsafeBufferPointer { text in
            (
                locsearch_set_text(easy, CURLOPT_URL, text.baseAddress),
                curl_url_set(parts, CURLUPART_URL, text.baseAddress, 0) == CURLUE_OK
            )
        }
        // If curl cannot parse the origin now, it fails when the call begins, with the reason.
        locsearch_set_url_parts(easy, isTakenApart ? parts : nil)
        origin = code == CURLE_OK ? Array(new) : []
        return code
    }
}
