/// The urgency of a request. It determines the order in which requests get limited resources: tokens of a rate limit,
/// calls of a daily budget, in-flight permits and memory.
///
/// Raw values are contract: they are the values of the member `priority` and of the setting `topics.requests`.
public enum RequestClass: String, Sendable, Hashable, CaseIterable {
    /// A user waits for the outcome.
    case interactive
    /// No user waits for the outcome: such a request gets what interactive requests leave, and at least a minimum
    /// share.
    case batch
}
