/// A record that is no outcome event.
public struct UnreadableOutcome: Error, Sendable, Hashable {
    /// Says why, for a person. Holds none of the record's bytes.
    public let message: String
}
