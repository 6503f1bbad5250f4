public import Basics
internal import HeapModule
internal import Synchronization

/// An executor, a timer and a clock, all run by the test's thread. Hours of concurrent waiting pass at once, in the same order each
/// time.
///
/// Tasks must prefer it as their task executor, because otherwise the runtime would run a resumed task in its thread pool (see
/// docs/internals/concurrency.md, 1). They are cancelled on the test's thread, too.
public final class VirtualTime: SerialExecutor, TaskExecutor, Timekeeper, MonotonicClock {
    private struct Timer: Comparable {
        let due: Instant
        let serial: Int

        static func < (a: Timer, b: Timer) -> Bool { (a.due, a.serial) < (b.due, b.serial) }
    }
    private struct Jobs {
        var waiting: [UnownedJob] = []
        var total = 0
    }
    /// The virtual time that runs the current job or timer, for stand-ins that a worker calls.
    @TaskLocal public static var current: VirtualTime?

    private let jobs = Mutex(Jobs())
    // Used on the thread of `run` only.
    private nonisolated(unsafe) var timers = Heap<Timer>()
    private nonisolated(unsafe) var actions: [Int: () -> Void] = [:]
    private nonisolated(unsafe) var serial = 0
    private nonisolated(unsafe) var current: Instant
    private nonisolated(unsafe) var actionsRun = 0
    /// The delay of every timer, as on a busy event loop.
    private let lateness: Duration
    /// The time that passes with each reading of the clock. With a real clock, two readings are never equal.
    private let timePerReading: Duration
    /// The time at the beginning.
    public let start: Instant

    public init(timersLateBy lateness: Duration = .zero, timePerReading: Duration = .zero) {
        self.lateness = lateness
        self.timePerReading = timePerReading
        start = .now
        unsafe current = start
    }

    /// The current time.
    public var now: Instant {
        unsafe current += timePerReading
        return unsafe current
    }
    /// The time since the beginning.
    public var elapsed: Duration { start.duration(to: now) }
    /// The number of timers that have not run and were not cancelled.
    public var timerCount: Int { unsafe actions.count }
    /// The number of timers that have run.
    public var timersRun: Int { unsafe actionsRun }
    /// The number of jobs so far: one for each `await` that suspended.
    public var jobCount: Int { jobs.withLock { $0.total } }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock {
            $0.waiting.append(job)
            $0.total += 1
        }
    }
    public func checkIsolated() {}
    public func isIsolatingCurrentContext() -> Bool? { true }

    @discardableResult
    public func schedule(at due: Instant, action: @escaping () -> Void) -> ScheduledAction {
        let timer = reserveTimer(at: due)
        start(timer, action: action)
        return ScheduledAction { unsafe self.actions[timer.serial] = nil }
    }

    private func reserveTimer(at due: Instant) -> Timer {
        unsafe serial += 1
        return unsafe Timer(due: max(due, now) + lateness, serial: serial)
    }

    private func start(_ timer: Timer, action: @escaping () -> Void) {
        unsafe timers.insert(timer)
        unsafe actions[timer.serial] = action
    }

    // MARK: - A clock

    public var minimumResolution: Duration { .nanoseconds(1) }

    public func sleep(until due: Instant, tolerance: Duration?) async throws {
        let timer = reserveTimer(at: due)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                start(timer) { continuation.resume() }
            }
        } onCancel: {
            unsafe actions.removeValue(forKey: timer.serial)?()
        }
        try Task.checkCancellation()
    }

    /// Sleeps, and ignores cancellation.
    public func sleep(until due: Instant) async {
        await withCheckedContinuation { continuation in schedule(at: due) { continuation.resume() } }
    }
    /// Sleeps, and ignores cancellation.
    public func sleep(for duration: Duration) async { await sleep(until: now + duration) }

    // MARK: - For the test's thread

    /// Runs the jobs that are ready, without moving time.
    public func settle() {
        let (serial, task) = unsafe (asUnownedSerialExecutor(), asUnownedTaskExecutor())
        while true {
            let ready = jobs.withLock { jobs in
                defer { jobs.waiting.removeAll() }
                return jobs.waiting
            }
            if ready.isEmpty { return }
            for job in ready { unsafe job.runSynchronously(isolatedTo: serial, taskExecutor: task) }
        }
    }

    /// Lets `duration` pass, and runs timers and jobs as they become due, until a condition holds.
    /// - Returns: whether the condition holds.
    @discardableResult
    public func run(for duration: Duration, until condition: () -> Bool = { false }) -> Bool {
        Self.$current.withValue(self) { runInside(for: duration, until: condition) }
    }

    private func runInside(for duration: Duration, until condition: () -> Bool) -> Bool {
        let end = now + duration
        settle()
        while !condition() {
            guard let timer = unsafe timers.min, timer.due <= end else {
                unsafe current = max(current, end)
                return false
            }
            unsafe timers.removeMin()
            guard let action = unsafe actions.removeValue(forKey: timer.serial) else { continue }
            unsafe current = max(current, timer.due)
            unsafe actionsRun += 1
            action()
            settle()
        }
        return true
    }

    /// Lets `duration` pass without running anything, as if the process stood still. A job may call this.
    public func freeze(for duration: Duration) { unsafe current += duration }
}

/// An actor that isolates the types under test, as a lane does.
public actor Owner {
    public nonisolated let time: VirtualTime
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe time.asUnownedSerialExecutor() }

    public init(_ time: VirtualTime) { self.time = time }
}
