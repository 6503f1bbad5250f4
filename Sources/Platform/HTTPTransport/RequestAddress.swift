internal import CCurl
internal import LibC

/// Sets the URL of a transfer's calls.
///
/// curl formats a URL three times over, letter by letter. So curl gets the origin as its URL once, and the path and query,
/// which vary from call to call, as the request's target, which it copies. It also gets the origin in its parts, because it
/// would else take it apart and put it together again for each call, which takes 10,000 instructions.
struct RequestAddress: ~Copyable {
    /// True with a proxy, which may want the whole URL as the target.
    private let isProxied: Bool
    /// The origin that curl has as its URL, like `http://host:port`; empty when curl has a whole URL.
    private var origin: [CChar] = []
    /// The parts of the origin, for `CURLOPT_CURLU`. curl reads them with each call; they are freed with this value.
    private let parts: OpaquePointer?

    init(isProxied: Bool) {
        self.isProxied = isProxied
        parts = curl_url()
    }

    deinit { curl_url_cleanup(parts) }

    /// Makes `easy` call `url`, which must have a scheme and a host, as `validated()` makes sure.
    mutating func set(_ url: String, of easy: UnsafeMutableRawPointer) -> CURLcode {
        // Swift's implicit conversion of a string to a pointer would copy it.
        url.withCString { url in
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
        // What curl cannot take apart now it refuses when the call begins, and says why.
        locsearch_set_url_parts(easy, isTakenApart ? parts : nil)
        origin = code == CURLE_OK ? Array(new) : []
        return code
    }
}
