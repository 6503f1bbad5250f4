public import Basics
internal import EventLoop

/// Runs any number of event loops on the calling thread, under virtual time. All random choices follow from a seed.
///
/// The jobs of a loop run in the same order as with a thread, because both use the same code for an iteration
/// (`EventLoop.runIteration`). The seed decides how long each iteration takes, and so how the iterations of several loops interleave. It
/// also orders loops and events that are due at the same instant, and equal timers of one loop. Time passes only while a loop is
/// busy with an iteration, or when every loop waits.
///
///     let simulation = Simulation(seed: 7)
///     let loop = simulation.makeLoop("worker")
///     simulation.spawn(on: loop) { await lane.run() }
///     try simulation.run(for: .seconds(60))
///
/// A simulation belongs to the thread that made it. A run can be repeated in another process only with `SWIFT_DETERMINISTIC_HASHING`,
/// because otherwise dictionaries and sets have a different order in each process.
public final class Simulation {
    /// The parameters of a schedule, besides its seed.
    public struct Settings: Sendable {
        /// The time of wall clocks at the beginning.
        public var start = WallTime(milliseconds: 1_767_225_600_000)  // 2026-01-01T00:00:00Z
        /// The duration of a loop's iteration, at least and at most. It is above zero, so that time passes even if a loop never rests.
        public var turnTime: ClosedRange<Duration> = .microseconds(2)...(.microseconds(80))

        public init() {}
    }

    /// The reason why a run ended.
    public enum End: Sendable {
        /// Every loop waits to be woken, and no event is due.
        case idle
        case timeIsUp
        /// The condition for going on did not hold.
        case condition
    }

    public let seed: UInt64
    /// Random numbers for the model around the loops. Loops and the schedule have separate generators.
    public var random: SeededGenerator
    private let state: SimulationState
    private var loopSeeds: SeededGenerator
    /// All loops that were made, by number.
    private var loops: [SimulatedLoop] = []
    /// The loop whose iteration is in progress.
    private var current: SimulatedLoop?
    /// The number of iterations of all loops.
    public private(set) var turns = 0

    /// Makes a simulation without any events.
    public init(seed: UInt64, settings: Settings = Settings()) {
        self.seed = seed
        var seeds = SeededGenerator(seed: seed)
        state = SimulationState(settings, schedule: seeds.fork())
        loopSeeds = seeds.fork()
        random = seeds.fork()
        unsafe state.onDrift = { [weak self] clock in self?.wakeLoops(of: clock) }
    }

    /// Reschedules the iterations of loops after a change of their clock.
    private func wakeLoops(of clock: SimulatedClock) {
        for loop in loops where loop.clock === clock { loop.driver.wake() }
    }

    deinit {
        for loop in loops where !loop.eventLoop.isStopped && !loop.isKilled { loop.leak() }
    }

    // MARK: - State

    /// The simulation's time. Clocks may show different times.
    public var now: Instant { unsafe state.now }
    /// The time since the beginning.
    public var elapsed: Duration { SimulationState.beginning.duration(to: now) }
    /// A digest of all iterations and notes so far. Equal runs have equal digests.
    public var digest: UInt64 { unsafe state.digest }

    /// Called for each iteration and each note, with one line that begins with the time. Lines for
    /// iterations exist only while this is set.
    public var onLine: ((String) -> Void)? {
        get { unsafe state.onNote }
        set { unsafe state.onNote = newValue }
    }

    /// Adds a line to the trace.
    public func note(_ text: String) { state.note(text) }

    /// Makes the clocks of a machine.
    /// - Parameters:
    ///   - skew: how far the monotonic clock is ahead of the simulation's time. Its zero has no meaning, so any value will do.
    ///   - wallSkew: how far its wall clock is ahead.
    ///   - drift: the drift of both in parts per million; negative for slow clocks.
    public func makeClock(skew: Duration = .zero, wallSkew: Duration = .zero, drift: Double = 0) -> SimulatedClock {
        SimulatedClock(state, skew: skew, wallSkew: wallSkew, drift: drift)
    }

    /// Makes a loop.
    /// - Parameter clock: the clock of its machine, which the loops of a process share; `nil`: an exact one.
    public func makeLoop(_ name: String, clock: SimulatedClock? = nil) -> SimulatedLoop {
        let driver = SimulatedDriver(name, clock: clock ?? makeClock(), random: loopSeeds.fork(), state)
        let loop = SimulatedLoop(driver)
        loops.append(loop)
        return loop
    }

    /// Starts a task on a loop.
    @discardableResult
    public func spawn(
        on loop: SimulatedLoop, _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        Task(executorPreference: loop.eventLoop, operation: work)
    }

    /// Schedules an event outside all loops, such as a broker's answer or the end of a process. The seed orders
    /// events that are due at the same instant.
    public func schedule(at due: Instant, _ action: @escaping () -> Void) {
        state.addEvent(at: max(due, now), action)
    }

    /// Schedules an event after a time.
    public func schedule(after time: Duration, _ action: @escaping () -> Void) {
        schedule(at: now + max(.zero, time), action)
    }

    /// Drops the scheduled events. Call it after the last run: actions usually retain the simulation, so neither would ever be freed.
    public func forgetEvents() { state.forgetEvents() }

    // MARK: - Running

    /// Runs loops and events for a time of the simulation, or until nothing is left to do.
    /// - Parameter condition: checked before each step; the run ends when it is false.
    /// - Throws: `SimulationError` as soon as something happens that another run would not repeat.
    @discardableResult
    public func run(
        for time: Duration = .seconds(saturating: .infinity), while condition: () -> Bool = { true }
    ) throws(SimulationError) -> End {
        let end = now + time
        return try EscapeWatch.during { escape throws(SimulationError) in
            while condition() {
                let step = nextStep()
                guard let step, step.due <= end else {
                    if step != nil { unsafe state.now = max(now, end) }
                    return step == nil ? .idle : .timeIsUp
                }

                unsafe state.now = max(now, step.due)
                take(step)
                try check(escape())
            }
            return .condition
        }
    }

    private struct Step {
        let due: Instant
        /// `nil`: the next event.
        let loop: SimulatedLoop?
    }

    /// Chooses among the loops and events that are due first.
    private func nextStep() -> Step? {
        let event = state.firstEvent ?? .never
        var due = event
        for turn in unsafe state.turns { due = min(due, turn) }
        guard due < .never else { return nil }

        // Everything overdue is due now, too.
        let latest = max(due, now)
        var count = event <= latest ? 1 : 0
        for turn in unsafe state.turns where turn <= latest { count += 1 }

        var chosen = count > 1 ? unsafe Int.random(in: 0..<count, using: &state.schedule) : 0
        for number in unsafe state.turns.indices where unsafe state.turns[number] <= latest {
            if chosen == 0 { return Step(due: due, loop: loops[number]) }
            chosen -= 1
        }
        return Step(due: due, loop: nil)
    }

    private func take(_ step: Step) {
        guard let loop = step.loop else {
            state.takeEvent()?.run()
            return
        }

        turns += 1
        state.noteTurn(of: loop)
        current = loop
        loop.runIteration()
    }

    private func check(_ escape: Escape?) throws(SimulationError) {
        let loop = current?.name
        current = nil
        if let escape {
            throw .escaped(executor: escape.executor, job: escape.job, loop: loop, callers: escape.callers)
        }
        if let loop = state.loopWokenFromOutside { throw .otherThread(loop: loop) }
    }
}
