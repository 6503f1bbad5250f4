package import Hummingbird
internal import NIOCore

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
