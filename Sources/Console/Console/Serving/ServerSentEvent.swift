internal import NIOCore

/// One event of a stream to a page, in the format of the HTML standard's "server-sent events".
struct ServerSentEvent {
    /// The bytes on the wire, including the empty line at the end of the event.
    private(set) var bytes: ByteBuffer

    /// - Parameters:
    ///   - name: the event's name, for which the page registers a listener.
    ///   - data: JSON. A line break in it, which can only be white space between its parts, becomes a second line of data.
    ///   - id: the id that the page sends when it reconnects.
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

    /// Shows a page that the console is reachable, keeps proxies from closing a quiet connection, and detects closed pages.
    static let heartbeat = ServerSentEvent("heartbeat", data: Array("{}".utf8))
}
