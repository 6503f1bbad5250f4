/// How urgent a request is, which decides the order in which requests get what is scarce: tokens of a rate limit, calls of a daily
/// budget, places in flight and memory.
///
/// Raw values are contract: they are the values of the member `priority` and of the setting `topics.requests`.
public enum RequestClass: String, Sendable, Hashable, CaseIterable {
    /// A person waits for the answer.
    case interactive
    /// Nobody waits for the answer: such a request gets what interactive ones leave, and at least a floor.
    case batch
}
