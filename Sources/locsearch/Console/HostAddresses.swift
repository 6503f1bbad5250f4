import Foundation
import LibC

/// Looks up what the names in URLs stand for.
struct HostAddresses: Sendable {
    /// Looking a name up holds its thread for as long as DNS takes.
    private let queue = DispatchQueue(label: "host-addresses")

    /// Returns a URL for each address of each URL's host, each once and in order. A URL that names an address, or a host
    /// that is not found, stays as it is, and so does an https one, whose certificate has the name.
    func all(of urls: [String]) async -> [String] {
        await withCheckedContinuation { continuation in
            queue.async {
                var found: [String] = []
                for url in urls.flatMap(Self.expanded) where !found.contains(url) { found.append(url) }
                continuation.resume(returning: found)
            }
        }
    }

    private static func expanded(_ url: String) -> [String] {
        guard url.hasPrefix("http://"), let parts = URLComponents(string: url), let host = parts.host else {
            return [url]
        }

        let urls = addresses(of: host).compactMap { address in
            var parts = parts
            parts.host = address.contains(":") ? "[\(address)]" : address
            return parts.string
        }
        return urls.isEmpty ? [url] : urls.sorted()
    }

    /// Only IPv4: a host that has both would else count twice.
    private static func addresses(of host: String) -> [String] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_INET
        #if canImport(Glibc)
            unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            unsafe hints.ai_socktype = SOCK_STREAM
        #endif

        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }

        // Safe: the list is the system's own, ends with nil, and is freed after the loop.
        var addresses: [String] = []
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let code = unsafe getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            if code == 0 {
                addresses.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            unsafe next = entry.ai_next
        }
        return addresses
    }
}
