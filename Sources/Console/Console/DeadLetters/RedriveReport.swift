/// How far letters that were sent back have come, and what became of them.
package struct RedriveReport: Sendable, Hashable {
    /// The number of letters that were chosen and could go back.
    package var chosen: Int
    /// The number of letters that had gone back before somebody chose them here.
    package var wentBefore: Int
    /// The number of letters that the topic had deleted before they could go back.
    package var deleted: Int
    /// The number of letters that went back so far.
    package var sent = 0
    /// True until the last letter went back.
    package var isSending = true
    /// Why not all of them went back.
    package var problem: String?

    /// The number of letters that became a result.
    package var completed = 0
    /// The number of letters that ended with an error, by `error.code`.
    package var failed: [String: Int] = [:]
    /// The number of letters that were put aside again.
    package var cameBack = 0
    /// The number of letters that went back and have no outcome yet.
    package var open = 0
    /// True until each has its outcome, or `wait` is over.
    package var isWaiting = true
    /// How long outcomes are waited for behind the last letter.
    package var wait: Duration
    /// Why outcomes are not looked for.
    package var outcomesProblem: String?

    package init(chosen: Int, wentBefore: Int, deleted: Int, wait: Duration) {
        self.chosen = chosen
        self.wentBefore = wentBefore
        self.deleted = deleted
        self.wait = wait
    }
}
