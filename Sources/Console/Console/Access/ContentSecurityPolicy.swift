/// The header that lets the browser load only the console's files and map tiles (W3C Content Security Policy).
enum ContentSecurityPolicy {
    /// The hosts of Google's map, from Google's documentation of its content security policy.
    private static let googleHosts = "https://*.googleapis.com https://*.gstatic.com https://*.google.com"

    static func text(for configuration: ConsoleConfiguration) -> String {
        let google = configuration.googleMapsKey == nil ? "" : " " + googleHosts
        let tiles = configuration.tiles.map { " " + source(of: $0.url) } ?? ""

        return [
            "default-src 'none'",
            "script-src 'self'\(google)",
            // Google's map inserts styles into the page. Leaflet and our own modules set them only through the object model.
            "style-src 'self'\(google.isEmpty ? "" : " 'unsafe-inline'\(google)")",
            "font-src 'self'\(google)",
            "img-src 'self' data:\(tiles)\(google)",
            "connect-src 'self'\(google)",
            "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    /// Returns scheme and host of a tile's URL, with `*` for the variable part of the host.
    private static func source(of url: String) -> String {
        let scheme = url.hasPrefix("https://") ? "https://" : "http://"
        let host = url.dropFirst(scheme.count).prefix { $0 != "/" }
        return scheme + host.replacing("{s}", with: "*")
    }
}
