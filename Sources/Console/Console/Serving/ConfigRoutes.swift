internal import HTTPServing
internal import Hummingbird
internal import JSON
internal import LocationSearch
internal import NIOCore

/// Serves the page's initial configuration, and the liveness probe of the console.
struct ConfigRoutes {
    let configuration: ConsoleConfiguration
    /// True for the console of a demo, whose page has a panel of faults.
    let isDemo: Bool

    func add(to router: Router<ClientContext>) {
        let json = json
        router.get("/api/config") { _, _ in JSONAnswer.response(json) }
        router.get("/livez") { _, _ in Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "ok\n")))
        }
    }

    private var json: [UInt8] {
        JSONWriter.object(capacity: 512) { json in
            json.member("version", configuration.version)
            json.member("leaflet", configuration.leaflet["leaflet.js"] != nil)
            json.member("streets", configuration.streets != nil)
            json.member("googleMapsKey", configuration.googleMapsKey)
            json.member("hasLogin", configuration.token != nil)
            if isDemo { json.member("isDemo", true) }

            if let tiles = configuration.tiles {
                json.object("tiles") { json in
                    json.member("url", tiles.url)
                    json.member("attribution", tiles.attribution)
                    json.member("maxZoom", 19)
                }
            }

            json.member("start", of: configuration.start)
        }
    }
}
