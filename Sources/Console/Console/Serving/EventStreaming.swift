internal import AsyncAlgorithms
internal import Hummingbird
internal import ServiceLifecycle

/// One page that listens to a stream, with its place in what it is told.
protocol EventListener: Sendable {
    /// The element that says that there may be something new.
    associatedtype Signal: Sendable

    /// Returns the next events for the page. It is called again until there are none.
    mutating func nextEvents(after signal: Signal) -> [ServerSentEvent]
}

/// Answers that go on for as long as a page listens.
enum EventStreaming {
    /// The longest time without an event. A page that gets none for some seconds says that the console is away.
    private static let heartbeatInterval = Duration.seconds(1)

    /// Returns an answer that sends a listener's events after each signal.
    ///
    /// It awaits each write, so a page that reads slowly slows only its own stream: `signals` must be bounded by themselves.
    /// It ends with the page, and with the server.
    /// - Parameter pause: the shortest time from one signal to the next, in which events gather.
    static func response<Listener: EventListener, Signals: AsyncSequence & Sendable>(
        to listener: Listener, after signals: Signals, pause: Duration = .zero
    ) -> Response where Signals.Element == Listener.Signal, Signals.Failure == Never {
        let body = ResponseBody { writer in
            var listener = listener
            let heartbeats = AsyncTimerSequence(interval: heartbeatInterval, clock: .continuous)
            let wakes = merge(signals.map { Optional($0) }, heartbeats.map { _ in nil as Listener.Signal? })

            for try await signal in wakes.cancelOnGracefulShutdown() {
                guard let signal else {
                    try await writer.write(ServerSentEvent.heartbeat.bytes)
                    continue
                }

                while case let events = listener.nextEvents(after: signal), !events.isEmpty {
                    for event in events { try await writer.write(event.bytes) }
                }
                if pause > .zero { try await Task.sleep(for: pause) }
            }
            try await writer.finish(nil)
        }

        var response = Response(status: .ok, body: body)
        response.headers[.contentType] = "text/event-stream"
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
