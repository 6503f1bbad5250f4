internal import HTTPServing
internal import HummingbirdCore

/// Serves the history of requests to the page.
struct RequestRoutes {
    let backend: any ConsoleBackend
    let kafka: KafkaGate
    let link: TraceLink?

    /// The maximum length of an id: a request's has at most 128 characters, a position at most 280.
    private static let mostCharacters = 512

    func add(to router: Router) {
        router.get("/api/requests") { request, _ in
            let id = request.uri.queryParameters["id"].map { String($0) } ?? ""
            guard (1...Self.mostCharacters).contains(id.unicodeScalars.count) else {
                throw ConsoleError(
                    .invalid,
                    "an id has 1 to \(Self.mostCharacters) characters: a request's, a trace's, or topic-partition-offset",
                    member: "id")
            }
            return try await kafka.answer(to: request) {
                RequestLifeJSON.text(of: try await backend.lives(of: id), link: link)
            }
        }
    }
}
