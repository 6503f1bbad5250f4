import EventContract
import WorkerRuntime

/// Chooses the topic to which each dead letter is redriven. This is its original topic if requests are still read from
/// it, and otherwise the first request topic.
struct RedriveTargets: Sendable {
    private let topics: [String]

    init(_ topics: WorkerConfiguration.Topics) { self.topics = topics.requestTopics.map(\.name) }

    /// - Parameter source: the position of the original record; `nil` if the letter does not contain it.
    func topic(for source: SourcePosition?) -> String {
        guard let source, topics.contains(source.topic) else { return topics[0] }
        return source.topic
    }

    /// Lists the topics to which the letters are redriven. If there are several, it adds the number of letters for
    /// each.
    func words(for letters: [DeadLetterSummary]) -> String {
        // bounded: a count of letters
        let counts = letters.reduce(into: [:] as [String: Int]) { $0[topic(for: $1.source), default: 0] += 1 }
        let targets = topics.filter { counts[$0] != nil }
        guard targets.count > 1 else { return targets.first ?? topics[0] }
        return targets.map { "\($0) (\((counts[$0] ?? 0).grouped))" }.joined(separator: " and ")
    }
}
