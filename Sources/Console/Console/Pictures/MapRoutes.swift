internal import HTTPServing
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// Serves pictures of places to pages, so that a browser calls only the console's host.
struct PictureRoutes {
    let backend: any ConsoleBackend
    let hosts: PictureHosts

    func add(to router: Router) {
        router.get("/api/pictures") { request, _ in
            guard let url = request.uri.queryParameters["url"], let address = hosts.address(of: String(url)),
                let picture = await backend.picture(at: address)
            else {
                throw ConsoleError(.notFound, "there is no such picture, or its host is not in console.pictureHosts")
            }

            // Google's terms forbid storing pictures; a short cache only avoids fetching the same one again within minutes.
            // An SVG may contain scripts. Opened directly, it must not run as a page of the console.
            let headers: HTTPFields = [
                .contentType: picture.type, .cacheControl: "private, max-age=300",
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            ]
            return Response(
                status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: picture.bytes)))
        }
    }
}

/// The streets of a simulated world, block by block, for the map of a demo.
struct StreetRoutes {
    let streets: (@Sendable (_ row: Int, _ column: Int) -> [UInt8]?)?

    func add(to router: Router) {
        guard let streets else { return }
        router.get("/api/streets/:row/:column") { _, context in
            guard let row = context.parameter("row", as: Int.self),
                let column = context.parameter("column", as: Int.self), let block = streets(row, column)
            else { throw ConsoleError(.notFound, "there are no streets") }

            var response = JSONAnswer.response(block)
            response.headers[.cacheControl] = "private, max-age=3600"
            return response
        }
    }
}
