public import Basics

/// One loop's share of a limit that a fleet shares by demand.
public struct LoopShare: Sendable, Hashable {
    /// The share now, 0 to 1.
    public var share: Double
    /// The end of the share, unless it is set again.
    public var end: Instant
    /// The expected share, 0 to 1: see `LeaseMember.prospect(of:)`.
    public var prospect: Double

    public init(share: Double, end: Instant, prospect: Double) {
        self.share = share
        self.end = end
        self.prospect = prospect
    }
}
