/// Options for all calls of a transport. They come from settings, never from requests.
public struct HTTPConfiguration: Sendable, Hashable {
    /// A larger response (decompressed) fails with `tooLarge`. At least 1. The default is
    /// three times the largest recorded response.
    public var maxResponseBytes = 2_000_000
    /// The longest time from the start of a call to the end of the TLS handshake, at least 1 ms.
    /// It should be shorter than the deadline, so that an unreachable address leaves time for another attempt.
    public var connectTimeout: Duration = .seconds(3)
    /// `http.proxy`: the proxy for http URLs, itself an http, https or socks5 URL. `nil` means no proxy; environment
    /// variables are ignored.
    public var proxy: String?
    /// The proxy for https URLs: `HTTPS_PROXY`, or `http.proxy` if a flag or a file sets it.
    public var httpsProxy: String?
    /// `http.noProxy`: hosts that are called without a proxy, in libcurl's format (`CURLOPT_NOPROXY`).
    public var noProxy = ""
    /// `http.caFile`: a PEM file with the trusted authorities, also for an https proxy. `nil` means the system's.
    public var caFile: String?
    /// The `User-Agent` of all calls; empty for none.
    public var userAgent = "locsearch"
    /// The number of idle connections kept open for reuse, at least 1.
    public var maxIdleConnections = 256
    /// True if responses include their `Date`. A worker's calls do not need it, so it is off by default.
    public var keepsDate = false

    public init() {}
}
