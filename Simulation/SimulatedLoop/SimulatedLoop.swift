public import Basics
public import EventLoop

/// An event loop that has no thread: `Simulation.run` calls its turns. `eventLoop` is what a worker is given.
///
/// Everything but `eventLoop` belongs to the simulation's thread, outside the turns of loops or in one.
public final class SimulatedLoop: Sendable {
    /// The loop that tasks and actors live on.
    public let eventLoop: EventLoop
    let driver: SimulatedDriver

    init(_ driver: SimulatedDriver) {
        self.driver = driver
        eventLoop = EventLoop(driver: driver)
    }

    public var name: String { driver.name }
    var number: Int { driver.number }
    /// The clocks of the machine that the loop runs on.
    public var clock: SimulatedClock { driver.clock }

    // MARK: - Faults

    /// The loop takes no turn before an instant of the simulation's time, like a process that was sent SIGSTOP. Its clocks go
    /// on. An instant in the past has it go on.
    public func freeze(until instant: Instant) {
        unsafe driver.frozenUntil = instant
        driver.simulation.note("\(name) frozen until \(SimulationState.text(instant))")
    }

    /// The loop takes no turn any more, like a process that was sent SIGKILL. What its tasks hold is never freed.
    public func kill() {
        guard !isKilled else { return }
        unsafe driver.wasKilled = true
        leak()
        driver.simulation.note("\(name) killed")
    }

    public var isKilled: Bool { unsafe driver.wasKilled }

    /// Has the loop report a file descriptor as ready in its next turn, once, if it is watched then.
    public func report(_ fileDescriptor: Int32, readiness: Readiness) {
        driver.report(fileDescriptor, readiness: readiness)
    }

    /// Takes a turn at the present.
    func takeTurn() { driver.takeTurn(of: eventLoop) }

    /// Leaves the loop and all that it holds for ever: a continuation that is freed without being resumed would say so in the
    /// log, and its task is never freed in any case.
    func leak() { _ = unsafe Unmanaged.passRetained(eventLoop) }
}
