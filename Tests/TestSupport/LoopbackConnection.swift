import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A TCP connection to a local port that sends and reads only on demand, so that a server meets clients with half a request, or
/// clients that never read. Not thread-safe.
package final class LoopbackConnection {
    private let socket: Int32

    /// - Parameter receiveBuffer: the size of the system's receive buffer in bytes; `nil`: its default of megabytes.
    /// - Throws: `POSIXError` if no process listens on the port.
    package init(port: Int, receiveBuffer: Int32? = nil) throws {
        #if canImport(Glibc)
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #endif

        if var bytes = receiveBuffer {
            unsafe setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }

        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian

        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // `deinit` closes the socket in this case too, because all properties are initialised. If it were closed twice, its number
        // could belong to another socket by then.
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(socket) }

    /// Reads until the peer closes, blocking the calling thread.
    /// - Returns: `false` if nothing came for two seconds.
    package func readToEnd() -> Bool {
        var patience = timeval(tv_sec: 2, tv_usec: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))

        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(socket, &buffer, buffer.count, 0)
            if count == 0 { return true }
            if count < 0 { return false }
        }
    }

    /// Returns the received bytes, without waiting.
    package func readAvailable() -> [UInt8] {
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = unsafe recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Returns true once the peer has closed or reset the connection. Bytes received before are dropped.
    package func isClosedByPeer() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { continue }
            return count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        }
    }

    /// Sends as much of the text as the peer accepts now, and ignores a closed connection.
    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends as many of the bytes as the peer accepts now, and ignores a closed connection.
    package func send(_ bytes: [UInt8]) {
        #if canImport(Glibc)
            _ = unsafe Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        #else
            _ = unsafe Darwin.send(socket, bytes, bytes.count, Int32(MSG_DONTWAIT))
        #endif
    }
}
