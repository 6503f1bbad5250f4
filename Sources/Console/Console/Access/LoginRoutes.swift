internal import HTTPServing
internal import Hummingbird
internal import JSON

/// Exchanges the token for a cookie, so that a browser does not store the token.
struct LoginRoutes {
    let access: ConsoleAccess

    private static let mostBytes = 4096

    func add(to router: Router<ClientContext>) {
        let access = access
        router.post("/api/login") { request, context in
            let token = Self.token(in: try await request.bytes(upTo: Self.mostBytes))
            let cookie = try access.logIn(showing: token ?? "", from: context.clientAddress)

            var response = Response(status: .noContent)
            response.setCookie(cookie)
            return response
        }
    }

    /// Reads `{"token":"..."}`.
    private static func token(in body: [UInt8]) -> String? {
        var token: String?
        do throws(JSONError) {
            var reader = JSONReader(body.span)
            guard try reader.enterObject() else { return nil }
            while let key = try reader.nextKey() {
                switch key {
                case "token": token = try reader.string()
                default: try reader.skip()
                }
            }
            try reader.finish()
            return token
        } catch {
            return nil
        }
    }
}
