import EventContract
import WorkerRuntime

/// The topics that dead letters go back to: each to the one that it came from, where requests are still read from that, and
/// else to the first topic of requests.
struct RedriveTargets: Sendable {
    private let topics: [String]

    init(_ topics: WorkerConfiguration.Topics) { self.topics = topics.requestTopics.map(\.name) }

    /// - Parameter source: the position of the record that the letter was made of; `nil` where the letter does not say.
    func topic(for source: SourcePosition?) -> String {
        guard let source, topics.contains(source.topic) else { return topics[0] }
        return source.topic
    }

    /// Names the topics that some letters go back to, with how many go to each where there are several.
    func words(for letters: [DeadLetterSummary]) -> String {
        // bounded: a count of letters
        let counts = letters.reduce(into: [:] as [String: Int]) { $0[topic(for: $1.source), default: 0] += 1 }
        let targets = topics.filter { counts[$0] != nil }
        guard targets.count > 1 else { return targets.first ?? topics[0] }
        return targets.map { "\($0) (\((counts[$0] ?? 0).grouped))" }.joined(separator: " and ")
    }
}
