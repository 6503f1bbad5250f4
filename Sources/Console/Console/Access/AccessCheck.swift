internal import HTTPServing
internal import HTTPTypes
internal import HummingbirdCore

/// Runs before all routes: refuses unauthorised requests, converts errors to answers, and adds headers that forbid a
/// browser everything that the console does not need.
struct AccessCheck {
    let access: ConsoleAccess
    let securityPolicy: String
    let page: PageRoutes
    let routes: Responder

    /// Paths that need no login, in addition to the files of the login page.
    private static let open: Set<String> = ["/api/login", "/livez"]

    func respond(to request: Request, in context: ClientContext) async throws -> Response {
        var response: Response
        do {
            try check(request, from: context.clientAddress)
            response = try await routes(request, context)
        } catch let error as ConsoleError {
            response = refusal(of: request, because: error)
        } catch is UnknownPath {
            response = ConsoleError(.notFound, "there is nothing here").response
        }

        response.headers[.xContentTypeOptions] = "nosniff"
        if let name = HTTPField.Name("Referrer-Policy") { response.headers[name] = "no-referrer" }
        if response.headers[.contentSecurityPolicy] == nil { response.headers[.contentSecurityPolicy] = securityPolicy }
        return response
    }

    /// A browser that opens a view without a login gets the login page; all other requests get the error.
    private func refusal(of request: Request, because error: ConsoleError) -> Response {
        let isView = PageView.all.contains { $0.path == request.uri.path }
        guard error.kind == .unauthorized, isView, var response = try? page.response(to: .login) else {
            return error.response
        }
        response.status = .unauthorized
        return response
    }

    private func check(_ request: Request, from address: String?) throws(ConsoleError) {
        let path = request.uri.path
        if !Self.open.contains(path), !PageRoutes.isOpen(path), let refusal = access.refusal(of: request, from: address)
        {
            throw refusal
        }

        // A form on another site can send texts and forms without a CORS preflight, but not JSON.
        let isJSON = request.headers[.contentType]?.lowercased().hasPrefix("application/json") ?? false
        if request.method == .post, !isJSON {
            throw ConsoleError(.invalid, "the body must be application/json", member: "content-type")
        }
    }
}

/// The header that lets the browser load only the console's files and map tiles (W3C Content Security Policy).
enum ContentSecurityPolicy {
    /// The hosts of Google's map, from Google's documentation of its content security policy.
    private static let googleHosts = "https://*.googleapis.com https://*.gstatic.com https://*.google.com"

    static func text(for configuration: ConsoleConfiguration) -> String {
        let google = configuration.googleMapsKey == nil ? "" : " " + googleHosts
        let tiles = configuration.tiles.map { " " + sources(of: $0.url) } ?? ""

        return [
            "default-src 'none'",
            "script-src 'self'\(google)",
            // Google's map inserts styles into the page. Our own modules set them only through the object model.
            "style-src 'self'\(google.isEmpty ? "" : " 'unsafe-inline'\(google)")",
            "font-src 'self'\(google)",
            "img-src 'self' data:\(tiles)\(google)",
            "connect-src 'self'\(google)",
            "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    /// Returns scheme and host of a tile's URL: all three that tiles.js uses, if `{s}` is a part of the host.
    private static func sources(of url: String) -> String {
        let scheme = url.hasPrefix("https://") ? "https://" : "http://"
        let origin: String = scheme + url.dropFirst(scheme.count).prefix { $0 != "/" }
        return Set(["a", "b", "c"].map { origin.replacing("{s}", with: $0) }).sorted().joined(separator: " ")
    }
}
