/// The end of a call, as far as it shows a provider's load.
public enum LoadSignal: Sendable, Hashable {
    /// The provider answered, with success or failure: the latency counts.
    case answered
    /// The provider did not answer in time: the latency is at least the time that the call had.
    case timedOut
    /// The provider reported overload (503, or 429 without a quota behind it).
    case overloaded
    /// No evidence about load: the call was cancelled, or had no connection.
    case ignored
}
