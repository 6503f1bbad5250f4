/// The end of a call, as far as it shows how much a provider has to do.
public enum LoadSignal: Sendable, Hashable {
    /// The provider answered, whatever it said: its latency counts.
    case answered
    /// The provider did not answer in time: the latency is at least the time that the call had.
    case timedOut
    /// The provider said that it has too much to do (503, or 429 without a quota behind it).
    case overloaded
    /// The call shows nothing of the provider's load: it was cancelled, or had no connection.
    case ignored
}
