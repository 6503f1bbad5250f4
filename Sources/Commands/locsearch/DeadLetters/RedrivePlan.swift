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
