/// The hosts that pictures are fetched from.
///
/// The URL of a picture comes from a record, which is not trusted. Without this list, it could make the console call any
/// address in its network.
package struct PictureHosts: Sendable, Hashable {
    private let hosts: Set<String>
    /// The address that replaces all hosts; `nil`: each picture is fetched from its own host.
    private let stand: String?

    /// - Parameters:
    ///   - hosts: `console.pictureHosts`: host names, compared without regard to case.
    ///   - stand: `console.pictureBaseURL`: an http or https URL that replaces all of them, such as the simulator's.
    package init(_ hosts: [String], insteadOfThem stand: String? = nil) {
        self.hosts = Set(hosts.map { $0.lowercased() })
        self.stand = stand
    }

    /// Returns the URL to fetch a picture from; `nil` if its host is not in the list.
    ///
    /// Only `https` on the default port is accepted: other ports could be used to scan a host for services.
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

    /// Returns whether a URL may contain the byte unescaped. Parsers disagree about a backslash or an `@`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "@")
    }
}
