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

    /// - Parameter letters: all that match, oldest first.
    /// - Parameter limit: the most that are chosen; `nil`: all of them.
    init(_ letters: [DeadLetterSummary], limit: Int?) {
        let waiting = letters.filter { !$0.isRedriven }

        chosen = Array(waiting.filter(\.isPending).prefix(limit ?? .max))
        redrivenBefore = letters.count - waiting.count
        outcomes = waiting.count(where: \.isOutcome)
        withoutContent = waiting.count { $0.isWithoutContent && !$0.isOutcome }
    }
}
