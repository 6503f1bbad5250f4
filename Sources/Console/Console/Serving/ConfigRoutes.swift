internal import EventContract
internal import HTTPServing
internal import HTTPTypes
internal import HummingbirdCore
internal import JSON
internal import LocationSearch
internal import NIOCore

/// Serves the page's initial configuration, and the console's own liveness probe and metrics.
struct ConfigRoutes {
    let configuration: ConsoleConfiguration
    let backend: any ConsoleBackend
    /// True for the console of a demo, whose page has a panel of faults.
    let isDemo: Bool

    func add(to router: Router) {
        let json = json
        router.get("/api/config") { _, _ in JSONAnswer.response(json) }
        router.get("/livez") { _, _ in Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "ok\n")))
        }
        // Collectors authenticate with the console's token like other programs.
        router.get("/metrics") { _, _ in
            let body = ResponseBody(byteBuffer: ByteBuffer(string: await backend.metrics()))
            let type = "text/plain; version=0.0.4; charset=utf-8"
            return Response(status: .ok, headers: [.contentType: type, .cacheControl: "no-store"], body: body)
        }
    }

    private var json: [UInt8] {
        JSONWriter.object(capacity: 512) { json in
            json.member("streets", configuration.streets != nil)
            json.member("googleMapsKey", configuration.googleMapsKey)
            json.member("terms", configuration.terms.rawValue)
            if isDemo { json.member("isDemo", true) }

            if let tiles = configuration.tiles {
                json.object("tiles") { json in
                    json.member("url", tiles.url)
                    json.member("attribution", tiles.attribution)
                    json.member("maxZoom", 19)
                }
            }

            json.member("start", configuration.start)
        }
    }
}
