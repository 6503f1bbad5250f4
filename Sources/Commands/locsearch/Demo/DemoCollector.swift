internal import Basics
import EventContract
import LocationSearch

/// Sends the demo's requests and keeps their outcomes.
struct DemoCollector {
    private let feed: OutcomeFeed
    private let sender: RequestSender
    private(set) var table = DemoTable()
    /// In the order in which they came.
    private(set) var received: [ReceivedOutcome] = []
    /// The number of requests without an outcome in time.
    private(set) var missing = 0

    /// The longest time that requests which are sent together wait for their outcomes.
    static let timeout: Duration = .seconds(20)

    init(feed: OutcomeFeed, sender: RequestSender) {
        self.feed = feed
        self.sender = sender
    }

    /// A place that has details and a picture to ask for.
    var firstPlace: Place? {
        for outcome in received {
            guard case .completed(let result)? = outcome.event?.body else { continue }
            for place in result.places where place.provider == .hotpepper { return place }
        }
        return nil
    }

    /// Sends requests all at once, waits for their outcomes, and adds a row for each to the table.
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

        for (one, outcome) in zip(requests, outcomes) { table.add(one, outcome: outcome) }
        missing += open.count
    }
}
