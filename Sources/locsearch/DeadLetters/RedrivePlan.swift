/// Which of the dead letters that match a filter go back to the requests topic.
struct RedrivePlan: Sendable {
    /// Oldest first.
    let chosen: [DeadLetterSummary]
    /// The number of letters that went back in earlier runs.
    let redrivenBefore: Int
    /// The number of letters that cannot go back, as the dead-letter topic did not take their content.
    let withoutContent: Int
    /// The number of letters that stay because they are results or errors of a worker.
    let outcomes: Int

    /// Those that are chosen and would be put aside again as they are.
    var faulty: [DeadLetterSummary] { chosen.filter { $0.fault != nil } }

    /// - Parameter letters: all that match, oldest first.
    /// - Parameter limit: the most that are chosen; `nil`: all of them.
    /// - Parameter skipsFaulty: leaves those where they are that would be put aside again.
    init(_ letters: [DeadLetterSummary], limit: Int?, skipsFaulty: Bool = false) {
        let waiting = letters.filter { !$0.isRedriven }

        let wanted = waiting.filter { $0.isPending && !(skipsFaulty && $0.fault != nil) }
        chosen = Array(wanted.prefix(limit ?? .max))
        redrivenBefore = letters.count - waiting.count
        outcomes = waiting.count(where: \.isOutcome)
        withoutContent = waiting.count { $0.isWithoutContent && !$0.isOutcome }
    }
}
