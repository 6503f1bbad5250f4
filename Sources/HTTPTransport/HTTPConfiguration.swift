/// How calls are made. All of it comes from settings, none of it from requests.
public struct HTTPConfiguration: Sendable, Hashable {
    /// `http.maxResponseBytes`: a larger answer (decompressed) is refused as `tooLarge`. At least 1; 2 MB is three times
    /// the largest answer seen.
    public var maxResponseBytes = 2_000_000
    /// `http.connectTimeout`: from the start of a call to the end of the TLS handshake, at least 1 ms. Within the
    /// deadline, so that a dead address leaves time for another attempt.
    public var connectTimeout: Duration = .seconds(3)
    /// `http.proxy`: an http, https or socks5 URL; `nil`: none, whatever the environment says.
    public var proxy: String?
    /// `http.caFile`: PEM file with the authorities to trust; `nil`: the system's.
    public var caFile: String?
    /// `User-Agent` of all calls. Short, as curl formats it letter by letter for each call; empty: none.
    public var userAgent = "locsearch"
    /// Connections kept open for reuse beyond those in use. 1 or more.
    public var maxIdleConnections = 256
    /// Connections to one host at a time; further calls wait for one, within their deadlines. 0: no limit but the number
    /// of calls in flight.
    public var maxConnectionsPerHost = 0

    public init() {}
}
