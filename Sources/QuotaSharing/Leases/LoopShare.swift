public import Basics

/// What one loop may use of a limit that a fleet shares by demand.
public struct LoopShare: Sendable, Hashable {
    /// The part now, 0 to 1.
    public var share: Double
    /// Until when, unless it is said again.
    public var end: Instant
    /// The part that is hoped for, 0 to 1: see `LeaseMember.prospect(of:)`.
    public var prospect: Double

    public init(share: Double, end: Instant, prospect: Double) {
        self.share = share
        self.end = end
        self.prospect = prospect
    }
}
