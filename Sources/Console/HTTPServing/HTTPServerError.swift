internal import NIOCore
internal import LibC

/// The error for an address that a server cannot listen on. The remedy is another port or host.
package struct HTTPServerError: Error, Hashable, CustomStringConvertible {
    package let host: String
    package let port: Int
    /// The system's message, such as "Address already in use".
    package let reason: String

    init(host: String, port: Int, cause: any Error) {
        self.host = host
        self.port = port
        reason = (cause as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) } ?? "\(cause)"
    }

    package var description: String { "cannot listen on \(host):\(port) (\(reason))" }
}
