/// The hosts that pictures are fetched from.
///
/// The URL of a picture stands in a record, and nobody vouches for a record. Without this list it could have the console
/// call any address of the network that the console is in.
package struct PictureHosts: Sendable, Hashable {
    private let hosts: Set<String>
    /// The address that pictures are fetched from, whichever host they name; `nil`: each from its own host.
    private let stand: String?

    /// - Parameters:
    ///   - hosts: `console.pictureHosts`: names of hosts, compared without regard to case.
    ///   - stand: `console.pictureBaseURL`: an http or https URL that stands in for all of them, such as the simulator's.
    package init(_ hosts: [String], insteadOfThem stand: String? = nil) {
        self.hosts = Set(hosts.map { $0.lowercased() })
        self.stand = stand
    }

    /// Returns the URL to fetch a picture from; `nil` when its host is not on the list.
    ///
    /// Only `https` with the usual port is let through: an address with another port could be used to look for what listens on it.
    package func address(of url: String) -> String? {
        let scheme = "https://"
        guard url.utf8.count <= 2048, url.lowercased().hasPrefix(scheme), url.utf8.allSatisfy(Self.isPlain) else {
            return nil
        }

        let rest = url.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" }
        guard hosts.contains(host.lowercased()) else { return nil }

        let path = rest.dropFirst(host.count)
        return stand.map { $0 + path } ?? url
    }

    /// True for what a URL may hold as it is. A backslash or an `@` would be read differently by different readers.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "@")
    }
}
