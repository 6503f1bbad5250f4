internal import AsyncAlgorithms
internal import HTTPServing
internal import HummingbirdCore

/// Serves the traffic view.
struct TrafficRoutes {
    let traffic: Traffic
    let pipeline: Pipeline
    let terms: ContentTerms

    /// The shortest time between two writes to one page.
    private static let pause = Duration.milliseconds(100)

    /// The newest traffic and report that a page has received.
    private struct Place {
        var traffic: Traffic.Place
        /// The version of the pipeline's report.
        var report = 0
    }

    func add(to router: Router) {
        router.get("/api/traffic/events") { request, _ in
            // A page that was disconnected sends the id of the last outcome that it has.
            let lastSeen = request.uri.queryParameters["after"].flatMap { Int($0) }
            let place = Place(traffic: traffic.place(lastSeen: lastSeen))
            return EventStreaming.response(
                after: merge(traffic.changes(), pipeline.changes()), from: place, pause: Self.pause
            ) { place, _ in
                let report = pipeline.event(after: &place.report, withPartitions: true)
                return traffic.events(from: &place.traffic) + [report].compactMap { $0 }
            }
        }

        router.get("/api/traffic/outcomes/:id") { _, context in
            guard let id = context.parameter("id", as: Int.self),
                let details = traffic.details(ofOutcome: id, by: terms)
            else { throw ConsoleError(.notFound, "this outcome is not kept any more") }
            return JSONAnswer.response(details)
        }
    }
}
