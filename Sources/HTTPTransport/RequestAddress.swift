internal import CCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Sets the URL of a transfer's calls.
///
/// curl formats a URL three times over, letter by letter. So curl gets the origin as its URL once, and the path and query,
/// which vary from call to call, as the request's target, which it copies.
struct RequestAddress {
    /// True with a proxy, which may want the whole URL as the target.
    let isProxied: Bool
    /// The origin that curl has as its URL, like `http://host:port`; empty when curl has a whole URL.
    private var origin: [CChar] = []

    init(isProxied: Bool) { self.isProxied = isProxied }

    /// Makes `easy` call `url`, which must have a scheme and a host, as `validated()` makes sure.
    mutating func set(_ url: String, of easy: UnsafeMutableRawPointer) -> CURLcode {
        // Swift's implicit conversion of a string to a pointer would copy it.
        url.withCString { url in
            let scheme = strcspn(url, ":") + 3
            let target = url + scheme + strcspn(url + scheme, "/?#")

            // Without a path, or with a fragment, the target is not simply the rest of the URL.
            guard !isProxied, strspn(target, "/") > 0, strcspn(target, "#") == strlen(target) else {
                origin = []
                let code = locsearch_set_text(easy, CURLOPT_REQUEST_TARGET, nil)
                return code == CURLE_OK ? locsearch_set_text(easy, CURLOPT_URL, url) : code
            }

            let code = setOrigin(UnsafeBufferPointer(start: url, count: target - url), of: easy)
            return code == CURLE_OK ? locsearch_set_text(easy, CURLOPT_REQUEST_TARGET, target) : code
        }
    }

    private mutating func setOrigin(_ new: UnsafeBufferPointer<CChar>, of easy: UnsafeMutableRawPointer) -> CURLcode {
        guard !origin.elementsEqual(new) else { return CURLE_OK }
        let code = (new + [0]).withUnsafeBufferPointer { locsearch_set_text(easy, CURLOPT_URL, $0.baseAddress) }
        origin = code == CURLE_OK ? Array(new) : []
        return code
    }
}
