/// Which of the dead letters that match a filter go back to the topics of requests.
struct RedrivePlan: Sendable {
    /// Oldest first.
    let chosen: [DeadLetterSummary]
    /// The number of letters that went back in earlier runs.
    let redrivenBefore: Int
    /// The number of letters that cannot go back, as the dead-letter topic did not take their content.
    let withoutContent: Int
    /// The number of letters that stay because they are results or errors of a worker.
    let outcomes: Int
    /// The number of letters that stay because worker processes have crashed with them.
    let crashing: Int

    /// Those that are chosen and would be put aside again as they are.
    var faulty: [DeadLetterSummary] { chosen.filter { $0.fault != nil } }

    /// - Parameter letters: all that match, oldest first.
    /// - Parameter limit: the most that are chosen; `nil`: all of them.
    /// - Parameter isForced: chooses those too with which worker processes have crashed.
    /// - Parameter skipsFaulty: leaves those where they are that would be put aside again.
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
