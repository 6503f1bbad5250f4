import Foundation
import LibC

/// An address to which a TCP connection can be made.
struct NetworkAddress: Sendable, Hashable {
    let family: Int32
    /// The address as a `sockaddr`.
    let bytes: [UInt8]
    /// The numeric address.
    let host: String
    let port: UInt16

    /// The numeric address with its port.
    var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// An error with the system's reason why a name has no address.
    struct Unknown: Error, Hashable {
        let reason: String
    }

    /// Why a socket cannot listen on this address of this machine; `nil` if it can.
    var listenProblem: String? { listenError.map { unsafe String(cString: strerror($0)) } }

    /// True if this machine lacks the address, such as the IPv6 address of `localhost` on a machine without IPv6.
    var isMissing: Bool { [EAFNOSUPPORT, EADDRNOTAVAIL].contains(listenError) }

    /// The `errno` of an attempt to listen on this address; `nil` if it succeeds.
    private var listenError: Int32? {
        let socket = socket(family, Self.streamSocket, 0)
        guard socket >= 0 else { return errno }
        defer { close(socket) }

        // As in servers, connections that have already ended must not prevent listening.
        var yes: Int32 = 1
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let result = unsafe bytes.withUnsafeBytes { bytes in
            unsafe bind(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        return result == 0 ? nil : errno
    }

    /// Resolves a name. Blocks its thread until the name servers answer.
    /// - Parameter isOwn: true for an address of this machine to listen on.
    static func resolve(
        _ host: String, port: UInt16, isOwn: Bool = false, family: Int32 = AF_UNSPEC
    ) throws(Unknown) -> [NetworkAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = family
        unsafe hints.ai_socktype = streamSocket
        if isOwn { unsafe hints.ai_flags = AI_PASSIVE }

        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, "\(port)", &hints, &list)
        guard code == 0 else { throw Unknown(reason: unsafe String(cString: gai_strerror(code))) }
        defer { unsafe freeaddrinfo(list) }

        var addresses: [NetworkAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe NetworkAddress(entry.pointee, port: port), !addresses.contains(address) {
                addresses.append(address)
            }
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }

    private init?(_ entry: addrinfo, port: UInt16) {
        guard let address = unsafe entry.ai_addr else { return nil }
        let length = unsafe Int(entry.ai_addrlen)
        family = unsafe entry.ai_family
        unsafe bytes = Array(UnsafeRawBufferPointer(start: address, count: length))

        var name = [CChar](repeating: 0, count: 256)
        guard unsafe getnameinfo(address, socklen_t(length), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.port = port
    }

    static let streamSocket = Int32(SOCK_STREAM.rawValue)
}

/// Runs a blocking call on a dedicated thread, so that it does not block Swift's thread pool.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
