internal import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The admin endpoints have no address to listen on. Another `admin.port` or `admin.host` cures it.
package struct AdminServerError: Error, Hashable, CustomStringConvertible {
    package let host: String
    package let port: Int
    /// The system's words, such as "Address already in use".
    package let reason: String

    init(host: String, port: Int, cause: any Error) {
        self.host = host
        self.port = port
        reason = (cause as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) } ?? "\(cause)"
    }

    package var description: String { "cannot listen on \(host):\(port) (\(reason))" }
}
