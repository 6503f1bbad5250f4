import Foundation

/// The sockets that a server in this process has accepted, as the kernel sees them.
enum AcceptedSockets {
    /// Returns the descriptors of the connections that were made to a local port of this process.
    static func descriptors(port: Int) -> [Int32] {
        (0..<4096).filter { descriptor in
            let local = unsafe name(of: descriptor, by: getsockname)
            let remote = unsafe name(of: descriptor, by: getpeername)
            return local == UInt16(port) && remote != nil
        }
    }

    /// Returns an option's value; -1 if it cannot be read.
    static func option(_ name: Int32, level: Int32, of descriptor: Int32) -> Int32 {
        var value: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, level, name, &value, &size) == 0 ? value : -1
    }

    /// Returns the port of an IPv4 address; `nil` if the descriptor is no such socket, or is not connected.
    private static func name(
        of descriptor: Int32, by ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> UInt16? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe ask(descriptor, $0, &size) }
        }

        guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return UInt16(bigEndian: address.sin_port)
    }
}
