public import Basics
public import EventLoop

/// An event loop without a thread: `Simulation.run` runs its iterations. Workers receive `eventLoop`.
///
/// Everything but `eventLoop` belongs to the simulation's thread, inside or outside iterations of loops.
public final class SimulatedLoop: Sendable {
    /// The loop that runs tasks and actors.
    public let eventLoop: EventLoop
    let driver: SimulatedDriver

    init(_ driver: SimulatedDriver) {
        self.driver = driver
        eventLoop = EventLoop(driver: driver)
    }

    public var name: String { driver.name }
    var number: Int { driver.number }
    /// The clocks of the loop's machine.
    public var clock: SimulatedClock { driver.clock }

    // MARK: - Faults

    /// Freezes the loop until an instant of the simulation's time, like a process after SIGSTOP. Its clocks go on.
    ///
    /// An instant in the past ends the freeze.
    public func freeze(until instant: Instant) {
        unsafe driver.frozenUntil = instant
        driver.simulation.note("\(name) frozen until \(SimulationState.text(instant))")
    }

    /// Stops the loop, like a process after SIGKILL. The memory of its tasks is never freed.
    public func kill() {
        guard !isKilled else { return }
        unsafe driver.wasKilled = true
        leak()
        driver.simulation.note("\(name) killed")
    }

    public var isKilled: Bool { unsafe driver.wasKilled }

    /// True until the end of a freeze.
    public var isFrozen: Bool { unsafe driver.frozenUntil > driver.simulation.now }

    /// Reads the state of actors on the loop, between two of its iterations. `body` must not change anything.
    public func inspect<Value>(_ body: () -> Value) -> Value { eventLoop.actAsThread(body) }

    /// Makes the loop report a file descriptor as ready in its next iteration, once, if it is watched then.
    public func report(_ fileDescriptor: Int32, readiness: Readiness) {
        driver.report(fileDescriptor, readiness: readiness)
    }

    /// Runs an iteration at the present time.
    func runIteration() { driver.runIteration(of: eventLoop) }

    /// Leaks the loop and everything that it retains. Freeing a continuation without resuming it would log a warning,
    /// and its task is never freed in any case.
    func leak() { _ = unsafe Unmanaged.passRetained(eventLoop) }
}
