package import HTTPServing
package import LocationSearch

/// An operator's settings of a console. Addresses and hosts come from settings, never from records or pages.
package struct ConsoleConfiguration: Sendable {
    /// The source of the map's tiles.
    package struct Tiles: Sendable, Hashable {
        /// The URL of one tile, with `{z}`, `{x}` and `{y}`, and optionally `{s}` for one of the hosts a, b and c.
        package var url: String
        /// The attribution that the map must show. Plain text.
        package var attribution: String

        package init(url: String, attribution: String) {
            self.url = url
            self.attribution = attribution
        }
    }

    /// `console.host`: the address to listen on.
    package var host = "127.0.0.1"
    /// `console.port`; 0 selects any free port.
    package var port = 8081
    /// `console.token`: the token that requests must have. `nil`: none, for consoles that are reachable from this machine only.
    package var token: BearerToken?
    /// `console.allowedHosts`: names under which a console without a token answers, in addition to `host` and this
    /// machine's own. In lower case and without a port.
    package var allowedHosts: [String] = []
    /// The limits on the number of connections and on their waiting times.
    package var limits = ConnectionLimits()
    /// `console.tileURL` and `console.tileAttribution`; `nil`: the map shows outlines of land and water.
    package var tiles: Tiles?
    /// `console.googleMapsKey`: the key of Google's map in the browser. Every page gets it, so Google must accept it from
    /// the console's own address only.
    package var googleMapsKey: String?
    /// Returns a block of the streets of a simulated world as JSON, by its row and column, or `nil` if there is none
    /// (`StreetMap.block`). `nil`: the places are real, and only tiles show their streets.
    package var streets: (@Sendable (_ row: Int, _ column: Int) -> [UInt8]?)?
    /// `tracing.uiURL`: links to traces; `nil`: no links.
    package var traceLink: TraceLink?
    /// `console.start`: the initial centre of the map.
    package var start = Coordinate(latitude: 35.690921, longitude: 139.700258)
    /// `console.terms`: which content of Google's places pages receive.
    package var terms = ContentTerms.standard
    /// `console.pictureHosts` and `console.pictureBaseURL`.
    package var pictureHosts = PictureHosts([])
    /// How long the outcome of a page's request is wanted. Workers make no provider call for an older one.
    package var requestExpiry = Duration.seconds(60)

    package init() {}
}
