internal import HTTPServing
internal import Hummingbird
internal import JSON
internal import LocationSearch
internal import NIOCore

/// Tells the page what it must know before it draws anything, and probes that the console lives.
struct ConfigRoutes {
    let configuration: ConsoleConfiguration

    func add(to router: Router<ClientContext>) {
        let json = Self.json(configuration)
        router.get("/api/config") { _, _ in JSONAnswer.response(json) }
        router.get("/livez") { _, _ in Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "ok\n")))
        }
    }

    private static func json(_ configuration: ConsoleConfiguration) -> [UInt8] {
        var json = JSONWriter(capacity: 512)
        json.beginObject()
        json.member("version", configuration.version)
        json.member("leaflet", configuration.leaflet["leaflet.js"] != nil)
        json.member("streets", configuration.streets != nil)
        json.member("googleMapsKey", configuration.googleMapsKey)
        json.member("hasLogin", configuration.token != nil)

        if let tiles = configuration.tiles {
            json.object("tiles") { json in
                json.member("url", tiles.url)
                json.member("attribution", tiles.attribution)
                json.member("maxZoom", 19)
            }
        }

        json.member("start", of: configuration.start)
        json.endObject()
        return json.finish()
    }
}
