internal import AsyncAlgorithms
internal import HTTPServing
internal import HTTPTypes
internal import Hummingbird

/// Serves the traffic view.
struct TrafficRoutes {
    let traffic: Traffic
    let pipeline: Pipeline

    /// The shortest time between two writes to one page.
    private static let pause = Duration.milliseconds(100)

    /// One page that shows the traffic.
    private struct Listener: EventListener {
        let traffic: Traffic
        var place: Traffic.Place
        let pipeline: Pipeline
        /// The version of the report that the page has.
        var report = 0

        mutating func nextEvents(after signal: Void) -> [ServerSentEvent] {
            traffic.events(from: &place) + [pipeline.event(after: &report, withPartitions: true)].compactMap { $0 }
        }
    }

    func add(to router: Router<ClientContext>) {
        router.get("/api/traffic/events") { request, _ in
            // An automatic reconnection sends its position in a header; a reloaded page sends it in its URL.
            let header = HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] }
            let lastSeen = header ?? request.uri.queryParameters["after"].map { String($0) }
            let listener = Listener(
                traffic: traffic, place: traffic.place(lastSeen: lastSeen.flatMap { Int($0) }), pipeline: pipeline)
            return EventStreaming.response(
                to: listener, after: merge(traffic.changes(), pipeline.changes()), pause: Self.pause)
        }

        router.get("/api/traffic/outcomes/:id") { _, context in
            guard let id = context.parameters.get("id", as: Int.self), let details = traffic.details(ofOutcome: id)
            else { throw ConsoleError(.notFound, "this outcome is not kept any more") }
            return JSONAnswer.response(details)
        }
    }
}
