internal import HTTPTypes
package import HummingbirdCore

/// Answers a request of a client.
package typealias Responder = @Sendable (Request, ClientContext) async throws -> Response

/// The error for a path that a server does not have.
package struct UnknownPath: Error {}

/// The routes of a server: see docs/internals/decisions/0018-own-router.md. A path with a GET route answers HEAD, too, and
/// each path answers methods that it does not have with 405.
package final class Router {
    /// The segments of a path. Those that begin with a colon are parameters.
    private typealias Pattern = [Substring]

    private var paths: [Pattern: [HTTPRequest.Method: Responder]] = [:]

    package init() {}

    /// - Parameter path: such as `/letters/:partition`.
    package func get(_ path: String, _ responder: @escaping Responder) {
        paths[path.split(separator: "/"), default: [:]][.get] = responder
    }

    package func post(_ path: String, _ responder: @escaping Responder) {
        paths[path.split(separator: "/"), default: [:]][.post] = responder
    }

    /// Answers by the routes added so far. Throws `UnknownPath`, and the errors of the routes.
    package var responder: Responder {
        // Of two patterns that match a path, the one with fewer parameters has precedence.
        let paths = paths.sorted { $0.key.count(where: Self.isParameter) < $1.key.count(where: Self.isParameter) }
        return { request, context in
            let path = request.uri.path.split(separator: "/")
            guard let (pattern, methods) = paths.first(where: { Self.matches(path, $0.key) }) else {
                throw UnknownPath()
            }
            guard let responder = methods[request.method == .head ? .get : request.method] else {
                let allowed = methods.keys.map { $0 == .get ? "GET, HEAD" : $0.rawValue }.sorted()
                return Response(status: .methodNotAllowed, headers: [.allow: allowed.joined(separator: ", ")])
            }

            var context = context
            for (part, segment) in zip(pattern, path) where Self.isParameter(part) {
                context.parameters[part.dropFirst()] = segment
            }
            return try await responder(request, context)
        }
    }

    private static func isParameter(_ part: Substring) -> Bool { part.hasPrefix(":") }

    private static func matches(_ path: [Substring], _ pattern: Pattern) -> Bool {
        path.count == pattern.count && zip(path, pattern).allSatisfy { isParameter($1) || $0 == $1 }
    }
}

/// The origin of a request, and the parameters of its path.
package struct ClientContext: Sendable {
    /// The client's address without its port, or that of a proxy in between; `nil` if unknown.
    package let clientAddress: String?
    fileprivate var parameters: [Substring: Substring] = [:]

    init(clientAddress: String?) { self.clientAddress = clientAddress }

    /// Returns a parameter of the path, with its percent encoding; `nil` if it is no such value.
    package func parameter<Value: LosslessStringConvertible>(_ name: String, as type: Value.Type) -> Value? {
        parameters[name[...]].flatMap { Value(String($0)) }
    }
}
