/// The broken promises of a schedule; empty if there are none.
public struct Verdict: Sendable, Hashable {
    /// One broken promise.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The promise. It stays the same while a schedule is narrowed down.
        public var rule: Rule
        /// A description of the case, for a person.
        public var text: String

        public var description: String { "\(rule.rawValue): \(text)" }
    }

    /// The rules: docs/internals/simulation.md has a sentence for each.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        case lost = "request without an outcome"
        case doubled = "outcome twice"
        case repeatedTooMuch = "more repeated than documented"
        case committedTooFar = "committed beyond what was answered"
        case shortened = "outcome shortened that fits"
        case aborted = "aborted request answered"
        case disordered = "outcomes out of order"
        case noDeadLetter = "record without a dead letter"
        case setAside = "record set aside that crashed nothing"
        case setAsideEarly = "record set aside too early"
        case crashedTooOften = "more crashes than documented"
        case tryLeft = "a try is left behind"
        case newestSuperseded = "newest search of a session superseded"
        case olderGoesOn = "older search of a session goes on"
        case overRate = "more calls than the limit"
        case batchBeforeInteractive = "batch requests served before an interactive one"
        case notFullyUsed = "limit not fully used"
        case overBudget = "more calls than the day's budget"
        case notGranted = "call that was not granted"
        case calledAgain = "call made again"
        case calledTooLate = "call for a request that is over"
        case miscounted = "calls not counted as they were made"
        case calledInPause = "call in a pause that was asked for"
        case calledThroughBreaker = "call while the breaker is open"
        case leaked = "something is not returned"
        case resumedLate = "publishing resumed late"
        case stuck = "worker does not end"
        case ended = "worker ends of itself"
        case escaped = "work outside of the simulation"
    }

    public var findings: [Finding] = []

    public var isGood: Bool { findings.isEmpty }
}
