internal import AsyncAlgorithms
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import ServiceLifecycle

/// Streaming answers, which last as long as their page is open.
enum EventStreaming {
    /// The longest time without an event. A page that receives none for some seconds shows that the console is unreachable.
    private static let heartbeatInterval = Duration.seconds(1)

    /// Returns an answer that sends events to a page after each signal.
    ///
    /// It awaits each write, so a slow page delays only its own stream; `signals` must be a bounded sequence. The answer
    /// ends with the page or the server.
    /// - Parameters:
    ///   - place: the page's position in the stream.
    ///   - pause: the shortest time between two signals, in which events accumulate.
    ///   - events: returns the next events, and advances the position. It is called again until there are none.
    static func response<Place: Sendable, Signals: AsyncSequence & Sendable>(
        after signals: Signals, from place: Place, pause: Duration = .zero,
        events: @escaping @Sendable (inout Place, Signals.Element) -> [ServerSentEvent]
    ) -> Response where Signals.Element: Sendable, Signals.Failure == Never {
        let body = ResponseBody { writer in
            var place = place
            let heartbeats = AsyncTimerSequence(interval: heartbeatInterval, clock: .continuous)
            let wakes = merge(signals.map { Optional($0) }, heartbeats.map { _ in nil as Signals.Element? })

            for try await signal in wakes.cancelOnGracefulShutdown() {
                guard let signal else {
                    try await writer.write(ServerSentEvent.heartbeat.bytes)
                    continue
                }

                while case let next = events(&place, signal), !next.isEmpty {
                    for event in next { try await writer.write(event.bytes) }
                }
                if pause > .zero { try await Task.sleep(for: pause) }
            }
            try await writer.finish(nil)
        }

        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }
}

/// One event of a stream to a page, in the format of the HTML standard's "server-sent events".
struct ServerSentEvent {
    /// The bytes on the wire, including the empty line at the end of the event.
    private(set) var bytes: ByteBuffer

    /// - Parameters:
    ///   - name: the event's name, for which the page registers a listener.
    ///   - data: JSON. A line break in it, which can only be white space between its parts, becomes a second line of data.
    init(_ name: String, data: [UInt8]) {
        bytes = ByteBuffer()
        bytes.reserveCapacity(data.count + 64)

        bytes.writeString("event: \(name)\n")
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
