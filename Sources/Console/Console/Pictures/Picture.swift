/// A picture as received from its host.
package struct Picture: Sendable, Hashable {
    /// An image type that browsers can show.
    package let type: String
    package let bytes: [UInt8]

    private static let types: Set<String> = [
        "image/avif", "image/gif", "image/jpeg", "image/png", "image/svg+xml", "image/webp",
    ]

    /// - Parameter contentType: as the host sent it.
    /// - Returns: `nil` if it is not a picture.
    package init?(contentType: String?, bytes: [UInt8]) {
        let name = contentType?.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        guard let name, Self.types.contains(name), !bytes.isEmpty else { return nil }

        type = name
        self.bytes = bytes
    }
}
