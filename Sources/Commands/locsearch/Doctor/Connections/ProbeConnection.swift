internal import Basics

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A TCP connection for a few requests, closed when it is deallocated. Its calls block their thread until their
/// deadline at the latest.
final class ProbeConnection: Sendable {
    /// An error with the system's reason why a connection failed.
    struct Refused: Error, Hashable {
        let reason: String
    }

    private let descriptor: Int32

    init(to address: NetworkAddress, before deadline: Instant) throws(Refused) {
        descriptor = Self.open(address.family)
        guard descriptor >= 0 else { throw Self.refusal() }

        let result = unsafe address.bytes.withUnsafeBytes { bytes in
            unsafe connect(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(address.bytes.count))
        }
        if result == 0 { return }
        guard errno == EINPROGRESS else { throw Self.refusal() }
        guard Self.wait(descriptor, for: Int16(POLLOUT), until: deadline) else {
            throw Refused(reason: "timed out")
        }

        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { throw Self.refusal() }
        if code != 0 { throw Refused(reason: unsafe String(cString: strerror(code))) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends a few bytes, few enough that the system accepts all of them at once.
    /// - Returns: false if the peer has closed the connection.
    func send(_ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe Self.write(descriptor, $0) } == bytes.count
    }

    /// Reads the next bytes.
    /// - Returns: an empty array if the peer has closed the connection; `nil` if nothing arrived in time.
    func receive(before deadline: Instant) -> [UInt8]? {
        guard Self.wait(descriptor, for: Int16(POLLIN), until: deadline) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : []
    }

    // MARK: - System calls

    /// Returns why a socket cannot listen on an address of this machine; `nil` if it can.
    static func listenProblem(at address: NetworkAddress) -> String? {
        let socket = open(address.family)
        guard socket >= 0 else { return refusal().reason }
        defer { close(socket) }

        // As in servers, connections that have already ended must not prevent listening.
        var yes: Int32 = 1
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let result = unsafe address.bytes.withUnsafeBytes { bytes in
            unsafe bind(
                socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(address.bytes.count))
        }
        return result == 0 ? nil : refusal().reason
    }

    private static func open(_ family: Int32) -> Int32 {
        let descriptor = socket(family, NetworkAddress.streamSocket, 0)
        guard descriptor >= 0 else { return descriptor }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static func refusal() -> Refused { Refused(reason: unsafe String(cString: strerror(errno))) }

    private static func wait(_ socket: Int32, for events: Int16, until deadline: Instant) -> Bool {
        let milliseconds = (deadline - Instant.now).milliseconds(roundedUp: true)
        var ends = [pollfd(fd: socket, events: events, revents: 0)]
        return unsafe poll(&ends, 1, Int32(clamping: max(0, milliseconds))) > 0
    }

    private static func write(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #else
            unsafe Darwin.send(socket, bytes.baseAddress, bytes.count, 0)
        #endif
    }
}
