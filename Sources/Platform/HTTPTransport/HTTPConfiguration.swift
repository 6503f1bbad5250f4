/// Options for all calls of a transport. They come from settings, never from requests.
public struct HTTPConfiguration: Sendable, Hashable {
    /// `http.maxResponseBytes`: a larger answer (decompressed) is refused as `tooLarge`. At least 1. The default is three
    /// times the largest answer that was recorded.
    public var maxResponseBytes = 2_000_000
    /// `http.connectTimeout`: the longest time from the start of a call to the end of the TLS handshake, at least 1 ms. It
    /// should be shorter than the deadline, so that a dead address leaves time for another attempt.
    public var connectTimeout: Duration = .seconds(3)
    /// `http.proxy`: the proxy for http URLs, itself an http, https or socks5 URL. `nil` means no proxy, whatever the
    /// environment says.
    public var proxy: String?
    /// `http.httpsProxy`: the proxy for https URLs.
    public var httpsProxy: String?
    /// `http.noProxy`: hosts that are called without a proxy, as libcurl reads them (`CURLOPT_NOPROXY`).
    public var noProxy = ""
    /// `http.caFile`: a PEM file with the authorities to trust. `nil` means the system's.
    public var caFile: String?
    /// The `User-Agent` of all calls; empty for none.
    public var userAgent = "locsearch"
    /// The number of connections kept open for reuse beyond those in use, at least 1.
    public var maxIdleConnections = 256
    /// The number of connections to one host at a time. Further calls wait for one, within their deadlines. 0 means no
    /// limit but the number of calls in flight.
    public var maxConnectionsPerHost = 0
    /// True when answers tell their `Date`: of no use to calls of a worker, which save the time for it.
    public var keepsDate = false

    /// Makes the defaults.
    public init() {}
}
