internal import HTTPServing
internal import Hummingbird

/// Serves the history of requests to the page.
struct RequestRoutes {
    let backend: any ConsoleBackend
    let kafka: KafkaGate
    let link: TraceLink?

    /// The maximum length of an id: a request's has at most 128 characters, a position at most 280.
    private static let mostCharacters = 512

    func add(to router: Router<ClientContext>) {
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

/// Links to traces in a tracing system's web interface, such as Jaeger's.
package struct TraceLink: Sendable, Hashable {
    private static let placeholder = "{traceId}"

    private let template: String

    /// - Parameter template: an http or https URL with `{traceId}`, without a user or a password.
    /// - Returns: `nil` for any other text.
    package init?(_ template: String) {
        let isWeb = template.hasPrefix("https://") || template.hasPrefix("http://")
        let isPlain = template.allSatisfy { $0.isASCII && !$0.isWhitespace && !"\"'<>\\".contains($0) }
        let host = template.drop { $0 != "/" }.drop { $0 == "/" }.prefix { !"/?#".contains($0) }
        guard isWeb, isPlain, !host.isEmpty, !host.contains("@"), !host.contains("{"),
            template.contains(Self.placeholder)
        else { return nil }
        self.template = template
    }

    /// Returns the URL of a trace.
    /// - Parameter traceID: 32 hexadecimal digits, as in `TraceContext`.
    package func url(of traceID: String) -> String {
        template.replacing(Self.placeholder, with: traceID)
    }
}
