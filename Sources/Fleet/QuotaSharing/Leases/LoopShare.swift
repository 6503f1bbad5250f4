public import Basics

/// One loop's share of a limit that a fleet shares by demand.
public struct LoopShare: Sendable, Hashable {
    /// The share now, 0 to 1.
    public var share: Double
    /// The next moment at which the share may shrink although no message arrives. It must not be used beyond that moment
    /// without asking again.
    public var end: Instant
    /// The share that the loop would have within two seconds if it had demand for all that it can get, 0 to 1. It is an
    /// estimate: other members may have more demand by then. It is that of interactive requests; batch requests get less.
    public var prospect: Double
}
