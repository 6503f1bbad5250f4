/// The progress of a redrive, and the outcomes of its letters.
package struct RedriveReport: Sendable, Hashable {
    /// The number of chosen letters that could go back.
    package var chosen: Int
    /// The number of letters that had already gone back when they were chosen.
    package var wentBefore: Int
    /// The number of letters that the topic deleted before they could go back.
    package var deleted: Int
    /// The number of letters sent so far.
    package var sent = 0
    /// True until the last letter was sent.
    package var isSending = true
    /// Why some letters were not sent.
    package var problem: String?

    /// The number of letters with a result.
    package var completed = 0
    /// The number of letters that ended with an error, by `error.code`.
    package var failed: [String: Int] = [:]
    /// The number of letters that became dead letters again.
    package var cameBack = 0
    /// The number of letters that were sent and have no outcome yet.
    package var open = 0
    /// True until each has its outcome, or `wait` has passed.
    package var isWaiting = true
    /// How long to wait for outcomes after the last letter.
    package var wait: Duration
    /// Why no outcomes are watched for.
    package var outcomesProblem: String?

    package init(chosen: Int, wentBefore: Int, deleted: Int, wait: Duration) {
        self.chosen = chosen
        self.wentBefore = wentBefore
        self.deleted = deleted
        self.wait = wait
    }
}
