public import Basics

/// One loop's share of a limit that a fleet shares by demand.
public struct LoopShare: Sendable, Hashable {
    /// The share now, 0 to 1.
    public var share: Double
    /// The next time at which the share may shrink although no message arrives. The share must not be used beyond it
    /// without an update.
    public var end: Instant
    /// The estimated share within two seconds if the loop had demand for all that it can get, 0 to 1. Other members may
    /// have more demand by then. It applies to interactive requests; batch requests get less.
    public var prospect: Double
}
