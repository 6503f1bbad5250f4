/// Which of the dead letters that match a filter go back to the requests topic.
struct RedrivePlan: Sendable {
    /// Oldest first.
    let chosen: [DeadLetterSummary]
    /// The number of letters that went back in earlier runs.
    let redrivenBefore: Int
    /// The number of letters that cannot go back, as the dead-letter topic did not take their content.
    let withoutContent: Int

    /// - Parameter letters: all that match, oldest first.
    /// - Parameter limit: the most that are chosen; `nil`: all of them.
    init(_ letters: [DeadLetterSummary], limit: Int?) {
        let waiting = letters.filter { !$0.isRedriven }
        let complete = waiting.filter { !$0.isWithoutContent }

        chosen = Array(complete.prefix(limit ?? .max))
        redrivenBefore = letters.count - waiting.count
        withoutContent = waiting.count - complete.count
    }
}
