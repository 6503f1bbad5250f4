internal import HTTPServing
internal import Hummingbird

/// The streets of a simulated world, block by block, for the map of a demo.
struct StreetRoutes {
    let streets: (@Sendable (_ row: Int, _ column: Int) -> [UInt8]?)?

    func add(to router: Router<ClientContext>) {
        guard let streets else { return }
        router.get("/api/streets/:row/:column") { _, context in
            guard let row = context.parameters.get("row", as: Int.self),
                let column = context.parameters.get("column", as: Int.self), let block = streets(row, column)
            else { throw ConsoleError(.notFound, "there are no streets") }

            var response = JSONAnswer.response(block)
            response.headers[.cacheControl] = "private, max-age=3600"
            return response
        }
    }
}
