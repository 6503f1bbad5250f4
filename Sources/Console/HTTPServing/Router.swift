internal import HTTPTypes
package import HummingbirdCore

/// Answers a request of a client.
package typealias Responder = @Sendable (Request, ClientContext) async throws -> Response

/// The error for a path that a server does not have.
package struct UnknownPath: Error {}

/// The routes of a server. A path with a GET route answers HEAD, too, and a path answers all other methods with 405.
///
/// It replaces the router of Hummingbird, whose module takes a file system and codecs for forms along: see
/// docs/internals/decisions/0018-own-router.md.
package final class Router {
    private struct Route {
        let method: HTTPRequest.Method
        /// The segments of the path. Those that begin with a colon are parameters.
        let pattern: [Substring]
        let responder: Responder

        var parameterCount: Int { pattern.count { $0.hasPrefix(":") } }

        /// Returns the parameters of a path, as they are in it; `nil` for a path of another route.
        func parameters(of path: [Substring]) -> [Substring: Substring]? {
            guard path.count == pattern.count else { return nil }
            var parameters: [Substring: Substring] = [:]
            for (part, segment) in zip(pattern, path) {
                if part.hasPrefix(":") {
                    parameters[part.dropFirst()] = segment
                } else if part != segment {
                    return nil
                }
            }
            return parameters
        }
    }

    private var routes: [Route] = []

    package init() {}

    /// - Parameter path: segments that begin with a colon are parameters, `/letters/:partition`. A path without parameters
    ///   has precedence.
    package func get(_ path: String, _ responder: @escaping Responder) { add(.get, path, responder) }

    package func post(_ path: String, _ responder: @escaping Responder) { add(.post, path, responder) }

    private func add(_ method: HTTPRequest.Method, _ path: String, _ responder: @escaping Responder) {
        routes.append(Route(method: method, pattern: path.split(separator: "/"), responder: responder))
    }

    /// Answers by the routes added so far. Throws `UnknownPath`, and the errors of the routes.
    package var responder: Responder {
        let routes = routes.sorted { $0.parameterCount < $1.parameterCount }
        return { request, context in
            let path = request.uri.path.split(separator: "/")
            guard let pattern = routes.first(where: { $0.parameters(of: path) != nil })?.pattern else {
                throw UnknownPath()
            }
            let candidates = routes.filter { $0.pattern == pattern }
            let method = request.method == .head ? .get : request.method
            guard let route = candidates.first(where: { $0.method == method }) else {
                let allowed = candidates.map { $0.method == .get ? "GET, HEAD" : $0.method.rawValue }
                return Response(status: .methodNotAllowed, headers: [.allow: allowed.joined(separator: ", ")])
            }

            var context = context
            context.parameters = route.parameters(of: path) ?? [:]
            let response = try await route.responder(request, context)
            return request.method == .head ? response.createHeadResponse() : response
        }
    }
}

/// The origin of a request, and the parameters of its path.
package struct ClientContext: Sendable {
    /// The client's address without its port, or that of a proxy in between; `nil` if unknown.
    package let clientAddress: String?
    fileprivate(set) var parameters: [Substring: Substring] = [:]

    init(clientAddress: String?) { self.clientAddress = clientAddress }

    /// Returns a parameter of the path, with its percent encoding; `nil` if it is no such value.
    package func parameter<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type) -> Value? {
        parameters[name[...]].flatMap { Value(String($0)) }
    }
}
