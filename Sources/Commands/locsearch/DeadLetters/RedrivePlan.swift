import EventContract
import WorkerRuntime

/// Decides which of the matching dead letters are redriven.
struct RedrivePlan: Sendable {
    /// Sorted from oldest to newest.
    let chosen: [DeadLetterSummary]
    /// The number of letters that were redriven by earlier runs.
    let redrivenBefore: Int
    /// The number of letters that cannot be redriven, because the dead-letter topic did not accept their content.
    let withoutContent: Int
    /// The number of letters that are skipped because they are results or errors of a worker.
    let outcomes: Int
    /// The number of letters that are skipped because worker processes crashed with them.
    let crashing: Int

    /// The chosen letters that would be rejected again unless they are changed.
    var faulty: [DeadLetterSummary] { chosen.filter { $0.fault != nil } }

    /// Returns how many of the chosen letters expire before they can be answered.
    /// - Parameter rate: letters sent per second, from now on.
    /// - Parameter answerTime: the time that a request may take: `worker.deadline`.
    func expiring(rate: Double, answerTime: Duration) -> Int {
        let now = WallTime.now()
        return chosen.enumerated().count { index, letter in
            letter.isExpired(at: now.adding(answerTime + .seconds(saturating: Double(index) / rate)))
        }
    }

    /// Returns notes for the user before the letters are sent, one line each.
    /// - Parameter topic: the name of the dead-letter topic.
    func notes(on topic: String) -> [String] {
        var notes: [String] = []
        if withoutContent > 0 { notes.append("\(withoutContent) cannot go back: \(topic) does not hold their content") }
        if outcomes > 0 { notes.append("\(outcomes) are not sent: they are results or errors of a worker") }
        if crashing > 0 {
            notes.append("\(crashing) are not sent: they have crashed worker processes; --force sends them too")
        }
        return notes
    }

    /// - Parameter letters: all letters that match, oldest first.
    /// - Parameter limit: the maximum number to choose; `nil`: all of them.
    /// - Parameter isForced: also chooses letters with which worker processes crashed.
    /// - Parameter skipsFaulty: skips letters that would be rejected again.
    init(_ letters: [DeadLetterSummary], limit: Int?, isForced: Bool = false, skipsFaulty: Bool = false) {
        let waiting = letters.filter { !$0.isRedriven }

        let pending = waiting.filter { $0.isPending && (isForced || !$0.crashesWorkers) }
        let wanted = pending.filter { !(skipsFaulty && $0.fault != nil) }
        chosen = Array(wanted.prefix(limit ?? .max))
        redrivenBefore = letters.count - waiting.count
        crashing = isForced ? 0 : waiting.count { $0.isPending && $0.crashesWorkers }
        outcomes = waiting.count(where: \.isOutcome)
        withoutContent = waiting.count { $0.isWithoutContent && !$0.isOutcome }
    }
}

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

    /// Returns the names of the topics to which the letters are redriven, for the user. If there are several, each has
    /// its number of letters.
    func topics(for letters: [DeadLetterSummary]) -> String {
        // bounded: a count of letters
        let counts = letters.reduce(into: [:] as [String: Int]) { $0[topic(for: $1.source), default: 0] += 1 }
        let targets = topics.filter { counts[$0] != nil }
        guard targets.count > 1 else { return targets.first ?? topics[0] }
        return targets.map { "\($0) (\((counts[$0] ?? 0).grouped))" }.joined(separator: " and ")
    }
}
