package import HTTPServing
package import LocationSearch

/// The decisions of an operator about a console. Addresses and hosts come from settings, never from records or pages.
package struct ConsoleConfiguration: Sendable {
    /// The source of the map's tiles.
    package struct Tiles: Sendable, Hashable {
        /// The URL of one tile, with `{z}`, `{x}` and `{y}`, and perhaps `{s}` for one of the hosts a, b and c.
        package var url: String
        /// Whom the map must name. Plain text.
        package var attribution: String

        package init(url: String, attribution: String) {
            self.url = url
            self.attribution = attribution
        }
    }

    /// `console.host`: the address to listen on.
    package var host = "127.0.0.1"
    /// `console.port`; 0 stands for any free port.
    package var port = 8081
    /// `console.token`: what a page must show. `nil`: nothing, which is for consoles that only this machine reaches.
    package var token: BearerToken?
    /// `console.allowedHosts`: names beside `host` and this machine's own under which a console without a token answers, in
    /// lower case and without a port.
    package var allowedHosts: [String] = []
    /// How many connections there may be, and how long each may make the console wait.
    package var limits = ConnectionLimits()
    /// `console.tileURL` and `console.tileAttribution`; `nil`: the map shows land and water in outline.
    package var tiles: Tiles?
    /// `console.googleMapsKey`: the key of Google's map in the browser. Every page gets it, so it must be one that Google
    /// accepts from the console's own address only.
    package var googleMapsKey: String?
    /// Returns a block of the streets of a simulated world as JSON, by its row and column, or `nil` where there is none
    /// (`StreetMap.block`). `nil`: the places are those of the real world, whose streets only tiles have.
    package var streets: (@Sendable (_ row: Int, _ column: Int) -> [UInt8]?)?
    /// `tracing.uiURL`: links to traces; `nil`: none.
    package var traceLink: TraceLink?
    /// Leaflet's files by their names, such as `leaflet.js`; empty where it is not installed.
    package var leaflet: [String: [UInt8]] = [:]
    /// `console.start`: where the map begins.
    package var start = Coordinate(latitude: 35.690921, longitude: 139.700258)
    /// `console.pictureHosts` and `console.pictureBaseURL`.
    package var pictureHosts = PictureHosts([])
    /// `console.requestExpiry`: how long an outcome of a page's request is wanted.
    package var requestExpiry = Duration.seconds(60)
    /// Returns a file of the page by its name; the program's own files, unless somebody works on the page.
    package var page: @Sendable (String) -> [UInt8]? = { PageFiles.content(of: $0) }
    /// The program's version, for the page.
    package var version = ""

    package init() {}
}
