import EventContract
import LocationSearch

/// Sends the demo's requests and collects their outcomes.
struct DemoCollector {
    private let feed: OutcomeFeed
    private let sender: RequestSender
    private var table = TextTable([
        .left("asked", maxWidth: 34), "provider", .left("outcome", maxWidth: 52), .right("ms"), .right("calls"),
    ])
    /// Sorted by arrival.
    private(set) var received: [ReceivedOutcome] = []
    /// The number of requests that had no outcome in time.
    private(set) var missing = 0

    /// The maximum time that a group of requests sent together waits for outcomes.
    static let timeout: Duration = .seconds(20)

    init(feed: OutcomeFeed, sender: RequestSender) {
        self.feed = feed
        self.sender = sender
    }

    /// The first place whose details and picture can be requested.
    var firstPlace: Place? {
        for outcome in received {
            guard case .completed(let result)? = outcome.event?.body else { continue }
            for place in result.places where place.provider == .hotpepper { return place }
        }
        return nil
    }

    /// Sends all requests together, waits for their outcomes, and adds a table row for each.
    mutating func run(_ requests: [DemoRequest]) async throws {
        var open: [SourcePosition: Int] = [:]
        for (index, one) in requests.enumerated() { open[try await sender.send(one.request)] = index }

        var outcomes = [ReceivedOutcome?](repeating: nil, count: requests.count)
        let deadline = Instant.now + Self.timeout
        while !open.isEmpty, Instant.now < deadline {
            for outcome in try await feed.next(within: .milliseconds(200)) {
                guard let source = outcome.event?.source, let index = open.removeValue(forKey: source) else { continue }
                outcomes[index] = outcome
                received.append(outcome)
            }
        }

        for (one, outcome) in zip(requests, outcomes) { add(one, outcome?.event) }
        missing += open.count
    }

    private mutating func add(_ asked: DemoRequest, _ event: OutcomeEvent?) {
        guard let event else { return table.add([asked.label, "", "no outcome", "", ""]) }
        table.add([
            asked.label, event.provider ?? "", OutcomeText.summary(event), OutcomeText.milliseconds(event),
            event.attempts.map { "\($0)" } ?? "",
        ])
    }

    var lines: [String] { table.lines }
}
