internal import Basics

/// What one loop may use of a limit that a fleet shares by demand.
struct LoopPart {
    /// The part now, 0 to 1.
    var share: Double
    /// Until when, unless it is said again.
    var end: Instant
    /// The part that is hoped for, 0 to 1: see `LendingMember.prospect(of:)`.
    var prospect: Double
}
