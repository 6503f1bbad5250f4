import Foundation
import LibC

/// Resolves the host names in URLs.
struct HostAddresses: Sendable {
    /// A lookup blocks its thread until DNS answers.
    private let queue = DispatchQueue(label: "host-addresses")

    /// Returns one URL for each address of each URL's host, without duplicates and in order. A URL is returned
    /// unchanged if its host is an address or is not found. An https URL is also returned unchanged, because its
    /// certificate contains the name.
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

    /// IPv4 only: a host with both kinds of addresses would be counted twice.
    private static func addresses(of host: String) -> [String] {
        let found = try? NetworkAddress.resolve(host, port: 80, family: AF_INET)
        return found?.map(\.host) ?? []
    }
}
