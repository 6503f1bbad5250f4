internal import NIOCore

/// One event of a stream to a page, in the form of the HTML standard's "server-sent events".
struct ServerSentEvent {
    /// The bytes on the wire, up to the empty line that ends the event.
    private(set) var bytes: ByteBuffer

    /// - Parameters:
    ///   - name: what the page listens for.
    ///   - data: JSON. A line break in it, which only blanks between its parts can be, becomes a second line of data.
    ///   - id: what the page names when it comes back.
    init(_ name: String, data: [UInt8], id: Int? = nil) {
        bytes = ByteBuffer()
        bytes.reserveCapacity(data.count + 64)

        bytes.writeString("event: \(name)\n")
        if let id { bytes.writeString("id: \(id)\n") }
        for line in data.split(omittingEmptySubsequences: true, whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            bytes.writeString("data: ")
            bytes.writeBytes(line)
            bytes.writeString("\n")
        }
        bytes.writeString("\n")
    }

    /// It tells a page that the console still is there, keeps what lies between from closing a quiet connection, and finds
    /// pages that are gone.
    static let heartbeat = ServerSentEvent("heartbeat", data: Array("{}".utf8))
}
