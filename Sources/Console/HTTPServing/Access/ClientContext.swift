package import Hummingbird
internal import NIOCore

/// The origin of a request, which routes know beside the request itself.
package struct ClientContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The client's address without its port, or the proxy's that stands between; `nil` where it is not known.
    package let clientAddress: String?

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        clientAddress = source.channel.remoteAddress?.ipAddress
    }
}
