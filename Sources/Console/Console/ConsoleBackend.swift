package import EventContract
internal import JSON
package import LocationSearch

/// The console's access to Kafka and to pictures. Its functions are called concurrently.
package protocol ConsoleBackend: Sendable {
    /// Sends a request, and returns once the broker has acknowledged it.
    /// - Parameters:
    ///   - time: the time of the event.
    ///   - expiry: the time until which an outcome is wanted.
    /// - Throws: `unavailable` if no broker takes it within some seconds.
    func send(_ request: SearchRequest, at time: WallTime, expiry: WallTime) async throws(ConsoleError)

    /// Reads the history of all requests with an id: a request's, a trace's, or a record's position.
    /// - Returns: no life if the topics do not contain the id.
    /// - Throws: `unavailable` if no broker answers within some seconds.
    func lives(of id: String) async throws(ConsoleError) -> RequestLives

    /// Returns the dead letters as JSON, each in the form that `locsearch dead-letters list --json` prints.
    /// - Throws: `unavailable` if the topic cannot be read.
    func deadLetters(_ query: DeadLetterQuery) async throws(ConsoleError) -> [UInt8]

    /// Returns a whole dead letter as the JSON object that `locsearch dead-letters show --json` prints.
    /// - Throws: `notFound` if the topic has no letter at this position; `unavailable`.
    func deadLetter(at position: RedriveMark) async throws(ConsoleError) -> [UInt8]

    /// Returns why a dead letter would be rejected again with another value; `nil` if it would be a valid request.
    /// - Throws: as `deadLetter(at:)`.
    func judge(_ value: [UInt8], ofLetterAt position: RedriveMark) async throws(ConsoleError) -> SearchError?

    /// Starts to send dead letters back to the requests topic, and watches for their outcomes from then on.
    /// - Returns: the id for `redriveReport`, and the first report.
    /// - Throws: `invalid` if one of them must not go back, `changed` if the topic has changed since; `unavailable`.
    func redrive(_ choice: RedriveChoice) async throws(ConsoleError) -> (id: Int, report: RedriveReport)

    /// Returns the progress of a redrive; `nil` if its report is not kept.
    func redriveReport(_ id: Int) -> RedriveReport?

    /// Returns the operators' orders in force in the fleet, and the names of the providers, as JSON.
    /// - Throws: `unavailable` if the fleet's topic cannot be read.
    func controls() async throws(ConsoleError) -> [UInt8]

    /// Pauses or resumes a provider or the intake, or retries a provider, for the whole fleet.
    /// - Returns: the number of workers that have applied the order, and of all workers.
    /// - Throws: `invalid` for an unknown provider, and if no worker answers, unless the choice is for workers that start
    ///   later; `unavailable`.
    func control(_ choice: PauseChoice) async throws(ConsoleError) -> (taken: Int, workers: Int)

    /// Returns the console's metrics as Prometheus text.
    func metrics() async -> String

    /// Fetches a picture from a URL that `PictureHosts` has accepted.
    /// - Returns: `nil` if there is none.
    func picture(at url: String) async -> Picture?
}

/// A choice to pause, resume or retry something for the whole fleet: `{"pause":true,"provider":"hotpepper"}`.
package struct PauseChoice: Sendable, Hashable {
    /// The longest time that a page may choose: a week. Longer orders have no end.
    private static let longest = 604_800

    /// False to resume.
    package private(set) var isPause = true
    /// True to call a provider again whose key was rejected or used up.
    package private(set) var isRetry = false
    /// `nil`: the intake of requests.
    package private(set) var provider: String?
    /// `nil`: until the order is withdrawn.
    package private(set) var seconds: Int?
    /// Gives the order even if no worker answers: it applies to workers that start later.
    package private(set) var isLater = false

    /// - Throws: `invalid` for anything else, so that nothing is paused by mistake.
    init(json bytes: [UInt8]) throws(ConsoleError) {
        var pause: Bool?
        var intake = false
        try JSONBody.members(of: bytes) { name, json throws(JSONError) in
            switch name {
            case "pause": pause = try json.bool()
            case "retry": isRetry = try json.bool() ?? false
            case "provider": provider = try json.string()
            case "intake": intake = try json.bool() ?? false
            case "later": isLater = try json.bool() ?? false
            case "forSeconds": seconds = try json.skipNull() ? nil : json.int() ?? 0
            default: try json.skip()
            }
        }

        guard isRetry == (pause == nil) else {
            throw ConsoleError(.invalid, "name pause or retry: one of the two", member: "pause")
        }
        isPause = pause ?? false
        guard intake != (provider != nil), !(intake && isRetry) else {
            throw ConsoleError(.invalid, "name a provider, or intake: one of the two", member: "provider")
        }
        if let seconds, !(1...Self.longest).contains(seconds) {
            throw ConsoleError(.invalid, "forSeconds is 1 to \(Self.longest), or missing", member: "forSeconds")
        }
    }
}

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
