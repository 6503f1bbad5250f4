/// The header by which a browser lets the page load only what the console serves, and tiles (W3C Content Security Policy).
enum ContentSecurityPolicy {
    /// The hosts that Google's map loads from, as Google's own page on the subject names them.
    private static let googleHosts = "https://*.googleapis.com https://*.gstatic.com https://*.google.com"

    static func text(for configuration: ConsoleConfiguration) -> String {
        let google = configuration.googleMapsKey == nil ? "" : " " + googleHosts
        let tiles = configuration.tiles.map { " " + source(of: $0.url) } ?? ""

        return [
            "default-src 'none'",
            "script-src 'self'\(google)",
            // Google's map writes styles into the page. Leaflet and our own modules set them by the object model only.
            "style-src 'self'\(google.isEmpty ? "" : " 'unsafe-inline'\(google)")",
            "font-src 'self'\(google)",
            "img-src 'self' data:\(tiles)\(google)",
            "connect-src 'self'\(google)",
            "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    /// Returns scheme and host of a tile's URL, with `*` for the part of the host that changes.
    private static func source(of url: String) -> String {
        let scheme = url.hasPrefix("https://") ? "https://" : "http://"
        let host = url.dropFirst(scheme.count).prefix { $0 != "/" }
        return scheme + host.replacing("{s}", with: "*")
    }
}
