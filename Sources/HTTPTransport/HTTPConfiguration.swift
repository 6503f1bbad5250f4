/// How calls are made. All of it comes from settings, none of it from requests.
package struct HTTPConfiguration: Sendable, Hashable {
    /// `http.maxResponseBytes`: a larger answer (after decompression) is refused as `tooLarge`. 2 MB: three times the
    /// largest answer seen.
    package var maxResponseBytes = 2_000_000
    /// `http.connectTimeout`: within the deadline, so that a dead address leaves time for another attempt.
    package var connectTimeout: Duration = .seconds(3)
    /// `http.proxy`: an http, https or socks5 URL; `nil`: none, whatever the environment says.
    package var proxy: String?
    /// `http.caFile`: PEM file with the authorities to trust; `nil`: the system's.
    package var caFile: String?
    package var userAgent = "location-search-worker"
    /// Connections kept open for reuse.
    package var maxIdleConnections = 256

    package init() {}
}
