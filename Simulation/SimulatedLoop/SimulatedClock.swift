public import Basics

/// The clocks of a simulated machine, which the loops of a process share: a monotonic clock and a wall clock.
///
/// They differ from the simulation's time as those of real machines do. They belong to the simulation's thread.
public final class SimulatedClock: Sendable {
    private let simulation: SimulationState
    /// The clock's value at the beginning of the simulation.
    private let origin: Instant
    // Unsafe because the compiler cannot see that only the simulation's thread uses them.
    private nonisolated(unsafe) var base: (real: Instant, local: Instant)
    private nonisolated(unsafe) var wallOffset: Duration
    private nonisolated(unsafe) var partsPerMillion: Double
    /// The last value that was read. All reads at one instant return the same value.
    private nonisolated(unsafe) var last: (real: Instant, local: Instant)

    init(_ simulation: SimulationState, skew: Duration, wallSkew: Duration, drift: Double) {
        self.simulation = simulation
        unsafe partsPerMillion = drift
        unsafe base = (simulation.now, simulation.now + skew)
        unsafe last = base
        origin = SimulationState.beginning + skew
        unsafe wallOffset = wallSkew
    }

    /// The drift of the clock in parts per million; negative for a slow one. Real clocks stay within 200.
    public var drift: Double {
        get { unsafe partsPerMillion }
        set {
            unsafe base = (simulation.now, now)
            unsafe last = base
            unsafe partsPerMillion = max(newValue, -900_000)
            unsafe simulation.onDrift?(self)
        }
    }

    /// The time of the monotonic clock.
    public var now: Instant {
        let real = unsafe simulation.now
        if unsafe last.real != real { unsafe last = (real, local(at: real)) }
        return unsafe last.local
    }

    /// The time of the wall clock. It drifts together with the monotonic clock.
    public var wallNow: WallTime {
        let elapsed = unsafe origin.duration(to: now) + wallOffset
        let milliseconds = Int64(elapsed.milliseconds(roundedUp: false))
        return WallTime(milliseconds: simulation.settings.start.milliseconds.saturatingAdding(milliseconds))
    }

    /// Sets the wall clock, as an operator or a time service does. The monotonic clock, which deadlines use, does not change.
    public func stepWallTime(by step: Duration) { unsafe wallOffset += step }

    /// Returns the clock's value at an instant of the simulation's time.
    func local(at instant: Instant) -> Instant {
        let elapsed = unsafe instant.nanoseconds.saturatingSubtracting(base.real.nanoseconds)
        let gained = unsafe Int64(saturating: (Double(elapsed) * partsPerMillion / 1e6).rounded(.down))
        return unsafe Instant(
            nanoseconds: base.local.nanoseconds.saturatingAdding(elapsed.saturatingAdding(gained)))
    }

    /// Returns the first instant of the simulation's time at which the clock shows `local` or later.
    func instant(showing local: Instant) -> Instant {
        let wanted = unsafe base.local.duration(to: local).wholeNanoseconds
        let needed = unsafe Double(wanted) / (1 + partsPerMillion / 1e6)
        var instant = unsafe base.real + .nanoseconds(partsPerMillion == 0 ? wanted : Int64(saturating: needed))
        while self.local(at: instant) < local { instant += .nanoseconds(1) }
        return instant
    }
}
