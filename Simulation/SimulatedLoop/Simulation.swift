public import Basics
internal import EventLoop

/// Runs any number of event loops on the calling thread, under virtual time. All that is left to chance follows from a seed.
///
/// The jobs of one loop run in the order in which a loop with a thread runs them, because the code of its turn is the same
/// (`EventLoop.takeTurn`). The seed decides how long each turn takes, and so how the turns of loops interleave; which of two
/// loops or events goes first that are due at the same instant; and which of equal timers of one loop fires first. Time passes
/// only when a loop is busy for the time of its turn or when every loop waits.
///
///     let simulation = Simulation(seed: 7)
///     let loop = simulation.makeLoop("worker")
///     simulation.spawn(on: loop) { await lane.run() }
///     try simulation.run(for: .seconds(60))
///
/// It belongs to the thread that made it. A run is the same in another process only where `SWIFT_DETERMINISTIC_HASHING` is set,
/// because dictionaries and sets have an order of their own in each process.
public final class Simulation {
    /// What a schedule depends on, besides its seed.
    public struct Settings: Sendable {
        /// What wall clocks show at the beginning.
        public var start = WallTime(milliseconds: 1_767_225_600_000)  // 2026-01-01T00:00:00Z
        /// How long a turn of a loop takes, at least and at most. More than nothing, so that a loop that never rests does not
        /// keep time from passing.
        public var turnTime: ClosedRange<Duration> = .microseconds(2)...(.microseconds(80))

        public init() {}
    }

    /// Why a run ended.
    public enum End: Sendable {
        /// Nothing is left to do: every loop waits to be woken, and no event is due.
        case idle
        case timeIsUp
        /// The condition for going on did not hold.
        case condition
    }

    public let seed: UInt64
    /// Chance for the model around the loops. What loops do has numbers of its own, and so has the schedule.
    public var random: SeededGenerator
    private let state: SimulationState
    private var loopSeeds: SeededGenerator
    /// All that were made, by their numbers.
    private var loops: [SimulatedLoop] = []
    /// The loop whose turn it is.
    private var current: SimulatedLoop?
    /// The turns that loops have taken.
    public private(set) var turns = 0

    /// Makes a simulation in which nothing happens yet.
    public init(seed: UInt64, settings: Settings = Settings()) {
        self.seed = seed
        var seeds = SeededGenerator(seed: seed)
        state = SimulationState(settings, schedule: seeds.fork())
        loopSeeds = seeds.fork()
        random = seeds.fork()
        unsafe state.onDrift = { [weak self] clock in self?.wakeLoops(of: clock) }
    }

    /// Has loops plan their turns anew, because they were planned by the clock as it was.
    private func wakeLoops(of clock: SimulatedClock) {
        for loop in loops where loop.clock === clock { loop.driver.wake() }
    }

    deinit {
        for loop in loops where !loop.eventLoop.isStopped && !loop.isKilled { loop.leak() }
    }

    // MARK: - What there is

    /// The simulation's time, which no clock within need show.
    public var now: Instant { unsafe state.now }
    /// The time since the beginning.
    public var elapsed: Duration { SimulationState.beginning.duration(to: now) }
    /// A number that follows from all turns and notes so far: equal runs have equal digests.
    public var digest: UInt64 { unsafe state.digest }

    /// Told of each turn and of each note, as one line with its time. Turns are written only while this is set.
    public var onLine: ((String) -> Void)? {
        get { unsafe state.onNote }
        set { unsafe state.onNote = newValue }
    }

    /// Adds a line to the trace.
    public func note(_ text: String) { state.note(text) }

    /// Makes the clocks of a machine.
    /// - Parameters:
    ///   - skew: how far its clock is ahead of the simulation's time. The zero of a clock means nothing, so any will do.
    ///   - wallSkew: how far its wall clock is ahead.
    ///   - drift: how much faster it goes, in parts per million.
    public func makeClock(skew: Duration = .zero, wallSkew: Duration = .zero, drift: Double = 0) -> SimulatedClock {
        SimulatedClock(state, skew: skew, wallSkew: wallSkew, drift: drift)
    }

    /// Makes a loop.
    /// - Parameter clock: that of its machine, which the loops of a process share; `nil`: one that is right.
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

    /// Has something happen outside all loops: a broker answers, a process is killed. Of events that are due at the same
    /// instant, the seed decides which comes first.
    public func schedule(at due: Instant, _ action: @escaping () -> Void) {
        state.addEvent(at: max(due, now), action)
    }

    /// Has something happen after a time.
    public func schedule(after time: Duration, _ action: @escaping () -> Void) {
        schedule(at: now + max(.zero, time), action)
    }

    /// Forgets what is scheduled. Call it when the last run is over: actions hold what they act on, which mostly has a way
    /// back to the simulation, so neither would ever be freed.
    public func forgetEvents() { state.forgetEvents() }

    // MARK: - Running

    /// Runs loops and events for a time of the simulation, or until nothing is left to do.
    /// - Parameter condition: asked before each step; the run ends when it is false.
    /// - Throws: `SimulationError` as soon as something is done that another run would not repeat.
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

    /// Chooses among what is due first.
    private func nextStep() -> Step? {
        let event = state.firstEvent ?? .never
        var due = event
        for turn in unsafe state.turns { due = min(due, turn) }
        guard due < .never else { return nil }

        // What is overdue is as due as what is due now.
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
        loop.takeTurn()
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
