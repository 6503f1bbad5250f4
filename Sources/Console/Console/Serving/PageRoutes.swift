internal import HTTPServing
internal import Hummingbird
internal import NIOCore

/// The page: its views, and their files.
struct PageRoutes {
    /// Returns the content of one of our files; `nil` if there is none with that name.
    let file: @Sendable (String) -> [UInt8]?
    let leaflet: [String: [UInt8]]

    private static let types: [String: String] = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "json": "application/json; charset=utf-8", "svg": "image/svg+xml", "png": "image/png",
    ]

    func add(to router: Router<ClientContext>) {
        let (file, leaflet) = (file, leaflet)
        for view in PageView.all {
            router.get(RouterPath(view.path)) { _, _ in try response(to: view) }
        }

        router.get("/assets/:name") { _, context in
            let name = context.parameters.get("name") ?? ""
            return try Self.response(name, file(name))
        }
        router.get("/leaflet/**") { request, _ in
            let name = String(request.uri.path.dropFirst("/leaflet/".count))
            return try Self.response(name, leaflet[name])
        }
    }

    /// Returns whether the path belongs to the login page. These files are public: they are the same in every copy of the program.
    static func isOpen(_ path: String) -> Bool { path.hasPrefix("/assets/") || path == "/login" }

    func response(to view: PageView) throws(ConsoleError) -> Response {
        try Self.response(view.file, view.html(from: file))
    }

    private static func response(_ name: String, _ content: [UInt8]?) throws(ConsoleError) -> Response {
        guard let content, let ending = name.split(separator: ".").last, let type = types[String(ending)] else {
            throw ConsoleError(.notFound, "there is no such file")
        }

        var response = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(bytes: content)))
        response.headers[.contentType] = type
        // A newer console has a newer page, and a browser must not mix the two.
        response.headers[.cacheControl] = "no-cache"
        return response
    }
}
