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
        let found = try? NetworkAddress.resolve(host, port: 80, family: AF_INET)
        return found?.map(\.host) ?? []
    }
}
