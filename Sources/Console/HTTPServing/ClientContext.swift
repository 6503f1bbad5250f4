internal import HTTPTypes
package import Hummingbird
internal import NIOCore

extension Router<ClientContext> {
    /// Makes each path answer unsupported methods with 405 and a list of the supported ones. Call it after the last route
    /// was added, on a router that answers HEAD as GET.
    package func refuseOtherMethods() {
        for (path, routes) in Dictionary(grouping: routes, by: \.path.description) {
            let taken: [HTTPRequest.Method] = routes.flatMap { $0.method == .get ? [.get, .head] : [$0.method] }
            let allowed = taken.map(\.rawValue).joined(separator: ", ")
            let all: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
            for method in all where !taken.contains(method) {
                on(RouterPath(path), method: method) { _, _ in
                    Response(status: .methodNotAllowed, headers: [.allow: allowed])
                }
            }
        }
    }
}

/// The origin of a request, for routes.
package struct ClientContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The client's address without its port, or that of a proxy in between; `nil` if unknown.
    package let clientAddress: String?

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        clientAddress = source.channel.remoteAddress?.ipAddress
    }
}
