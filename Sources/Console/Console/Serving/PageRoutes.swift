internal import HTTPServing
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// The page: its views, and their files.
struct PageRoutes {
    /// Returns the content of one of our files; `nil` if there is none with that name.
    let file: @Sendable (String) -> [UInt8]?

    private static let types: [String: String] = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "json": "application/json; charset=utf-8", "svg": "image/svg+xml",
    ]

    func add(to router: Router) {
        for view in PageView.all {
            router.get(view.path) { _, _ in try response(to: view) }
        }

        router.get("/assets/:name") { _, context in
            let name = context.parameter("name", as: String.self) ?? ""
            return try Self.response(name, file(name))
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

        // A newer console has a newer page, and a browser must not mix the two.
        return Response(
            status: .ok, headers: [.contentType: type, .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: content)))
    }
}

/// A page with an address. The parts common to all pages are in separate files, which replace the comments with their
/// names: `<!-- head.html -->` and `<!-- header.html -->`. All addresses in a page are relative and all pages are in one
/// folder, so a proxy may serve the console below any path.
struct PageView {
    let path: String
    let file: String

    static let all = [
        PageView(path: "/", file: "index.html"),
        PageView(path: "/traffic", file: "traffic.html"),
        PageView(path: "/request", file: "request.html"),
        PageView(path: "/dead-letters", file: "deadletters.html"),
        login,
    ]
    static let login = PageView(path: "/login", file: "login.html")

    /// Returns the page as it is served; `nil` if there is no such file.
    /// - Parameter content: returns a file of the page.
    func html(from content: (String) -> [UInt8]?) -> [UInt8]? {
        guard let page = content(file) else { return nil }

        let link = "href=\"\(path == "/" ? "./" : String(path.dropFirst()))\""
        return ["head.html", "header.html"].reduce(page) { page, name in
            let part = String(decoding: content(name) ?? [], as: UTF8.self)
                .replacing("\(link) data-text=", with: "\(link) aria-current=\"page\" data-text=")
            let text = String(decoding: page, as: UTF8.self)
            return Array(text.replacing("  <!-- \(name) -->\n", with: part).utf8)
        }
    }
}
