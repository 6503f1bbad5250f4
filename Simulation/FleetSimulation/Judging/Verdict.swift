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
        case doubled = "duplicate outcome"
        case repeatedTooMuch = "more repeats than documented"
        case committedTooFar = "unanswered request committed"
        case shortened = "outcome truncated needlessly"
        case aborted = "aborted request answered"
        case disordered = "outcomes out of order"
        case noDeadLetter = "record without a dead letter"
        case setAside = "harmless record set aside"
        case setAsideEarly = "record set aside too early"
        case crashedTooOften = "more crashes than documented"
        case tryLeft = "crash note left behind"
        case newestSuperseded = "newest search of a session superseded"
        case olderGoesOn = "older search of a session continues"
        case overRate = "more calls than the limit"
        case batchBeforeInteractive = "batch requests served before an interactive one"
        case notFullyUsed = "limit not fully used"
        case overBudget = "more calls than the day's budget"
        case notGranted = "call without a grant"
        case calledAgain = "call made again"
        case calledTooLate = "call for an expired request"
        case miscounted = "calls counted incorrectly"
        case calledInPause = "call during a requested pause"
        case calledThroughBreaker = "call while the breaker is open"
        case delayedByCare = "partitions delayed by careful intake"
        case leaked = "resource leak"
        case resumedLate = "publishing resumed late"
        case stuck = "worker does not stop"
        case ended = "worker stops unexpectedly"
        case escaped = "work outside of the simulation"
    }

    public var findings: [Finding] = []

    public var isGood: Bool { findings.isEmpty }
}
