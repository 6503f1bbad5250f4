internal import Basics
internal import EventLoop

/// Replaces a loop's thread: schedules its iterations ("turns"), and provides its clocks and random numbers.
///
/// The loop retains its driver, and not the other way round.
final class SimulatedDriver: LoopDriver {
    let name: String
    let clock: SimulatedClock
    let simulation: SimulationState

    // Unsafe because the compiler cannot see that only the simulation's thread uses them: `wake` checks it.
    private nonisolated(unsafe) var random: SeededGenerator
    private nonisolated(unsafe) var reports: [(fileDescriptor: Int32, readiness: Readiness)] = []
    /// The time of the loop's next iteration; `nil`: when it is woken.
    private nonisolated(unsafe) var wakeTime: Instant? = SimulationState.beginning { didSet { noteTurn() } }
    private nonisolated(unsafe) var busyUntil = SimulationState.beginning
    /// The time since which the loop has been idle; `nil` while it has jobs.
    private nonisolated(unsafe) var restingSince: Instant?
    private nonisolated(unsafe) var hasWoken = false
    nonisolated(unsafe) var frozenUntil = SimulationState.beginning { didSet { noteTurn() } }
    nonisolated(unsafe) var wasKilled = false { didSet { noteTurn() } }
    /// The index of the loop in `SimulationState.turns`.
    let number: Int

    init(_ name: String, clock: SimulatedClock, random: SeededGenerator, _ simulation: SimulationState) {
        self.name = name
        self.clock = clock
        self.simulation = simulation
        unsafe self.random = random
        unsafe number = simulation.turns.count
        unsafe simulation.turns.append(SimulationState.beginning)
    }

    /// Makes the loop's next iteration report a file descriptor.
    func report(_ fileDescriptor: Int32, readiness: Readiness) {
        unsafe reports.append((fileDescriptor, readiness))
        wake()
    }

    // MARK: - Iterations

    /// Publishes the time of the loop's next iteration.
    private func noteTurn() {
        guard unsafe !wasKilled, let time = unsafe wakeTime else { return unsafe simulation.turns[number] = .never }
        unsafe simulation.turns[number] = max(time, frozenUntil)
    }

    /// Runs an iteration of the loop at the present time.
    func runIteration(of eventLoop: EventLoop) {
        let now = unsafe simulation.now
        let rest = unsafe restingSince.map { clock.local(at: $0).duration(to: clock.local(at: now)) } ?? .zero
        unsafe hasWoken = false
        unsafe wakeTime = nil
        eventLoop.runIteration(after: max(.zero, rest))

        let cost = simulation.turnCost()
        unsafe busyUntil = now + cost
        guard !eventLoop.isStopped else { return unsafe (wakeTime, restingSince) = (nil, nil) }

        let wait = eventLoop.timeToWait
        unsafe restingSince = wait == 0 ? nil : busyUntil
        if unsafe wait == 0 || hasWoken {
            unsafe wakeTime = busyUntil
        } else if wait > 0 {
            let due = clock.local(at: now) + .milliseconds(Int64(wait))
            unsafe wakeTime = max(busyUntil, clock.instant(showing: due))
        }
    }

    // MARK: - LoopDriver

    var now: Instant { clock.now }
    var wallNow: WallTime { clock.wallNow }
    func randomNumber() -> UInt64 { unsafe random.next() }
    var timerRank: UInt16 { simulation.timerRank() }

    func watch(_ fileDescriptor: Int32, for interest: Readiness) {}

    func wait(milliseconds: Int32, report: (Int32, Readiness) -> Void) {
        let ready = unsafe reports
        unsafe reports = []
        for (fileDescriptor, readiness) in ready { report(fileDescriptor, readiness) }
    }

    func wake() {
        guard simulation.isOnThread(loop: name) else { return }
        unsafe hasWoken = true
        let time = unsafe max(simulation.now, busyUntil)
        if let wakeTime = unsafe wakeTime, wakeTime <= time { return }
        unsafe wakeTime = time
    }
}

extension Instant {
    /// The next iteration of a loop that has to be woken first.
    static var never: Instant { Instant(nanoseconds: .max) }
}
