public import Basics
import Synchronization

/// Receives a loop's readiness events for file descriptors.
public protocol ReadinessHandler: AnyObject, Sendable {
    /// Reads or writes a descriptor that is ready. Called on the loop's thread, outside any task, so an actor on the
    /// loop enters its isolation with `assumeIsolated`.
    ///
    /// An event may be outdated: if a descriptor was closed in this iteration of the loop, a new one may have its
    /// number.
    func ready(_ fileDescriptor: Int32, readiness: Readiness)
}

/// A thread that waits for sockets and timers, and runs Swift jobs in between.
///
/// The loop is a `SerialExecutor`: all actors that return it as their `unownedExecutor` run on this thread. It is also
/// a `TaskExecutor`: tasks started with `executorPreference: loop` stay on it. docs/internals/concurrency.md describes
/// the consequences for code that runs here.
///
/// `enqueue`, `stop`, `isCurrent`, `isStopped`, the clocks and the random numbers may be used from any thread. All
/// other members may only be used on the loop's thread, and trap elsewhere.
public final class EventLoop: SerialExecutor, TaskExecutor {
    /// The maximum number of timers that run between two polls of the sockets.
    private static let mostTimersAtOnce = 64

    private let poller: any Poller
    /// Replaces the thread and the clocks in a simulation; `nil` on a loop with a thread.
    private let driver: (any LoopDriver)?
    /// Jobs enqueued by other threads. The thread that adds the first one wakes the loop.
    private let incoming = Mutex<[UnownedJob]>([])
    private let stopping = Atomic<Bool>(false)
    private let threadID = Atomic<UInt>(0)
    private let stopped = Atomic<Bool>(false)

    // `nonisolated(unsafe)` because the compiler cannot check that only the loop's thread uses the following
    // properties: every public method that accesses them checks `isCurrent` first.
    private nonisolated(unsafe) var jobs: [UnownedJob] = []
    private nonisolated(unsafe) var running: [UnownedJob] = []
    private nonisolated(unsafe) var handlers: [(any ReadinessHandler)?] = []
    private nonisolated(unsafe) var timers = LoopTimers()
    private nonisolated(unsafe) var slept = Duration.zero
    private nonisolated(unsafe) var longestPass = Duration.zero
    private nonisolated(unsafe) var began = SystemClock.now

    /// Starts the loop's thread.
    /// - Throws: `EventLoopError` if the system has no thread or file descriptor left.
    public init() throws(EventLoopError) {
        poller = try EpollPoller()
        driver = nil
        unsafe jobs.reserveCapacity(512)
        unsafe running.reserveCapacity(512)
        // The thread owns a reference to the loop until it ends.
        try LoopThread.start { [self] in run() }
    }

    /// Makes a loop without a thread, whose iterations are run by `driver`: see docs/internals/concurrency.md, 8.
    package init(driver: any LoopDriver) {
        poller = driver
        self.driver = driver
        unsafe began = driver.now
    }

    /// True for code that runs on this loop's thread. Safe to call from any thread.
    public var isCurrent: Bool { threadID.load(ordering: .relaxed) == LoopThread.currentID }

    /// Ends the thread after the ready jobs have run. Safe to call from any thread.
    ///
    /// A job that is enqueued later never runs, so end the loop's tasks first (docs/internals/concurrency.md, 7).
    public func stop() {
        stopping.store(true, ordering: .releasing)
        poller.wake()
    }

    /// True once the thread has ended. Safe to call from any thread.
    public var isStopped: Bool { stopped.load(ordering: .acquiring) }

    // MARK: - Executor

    /// Enqueues a job to run on the loop's thread. Called by the Swift runtime, from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)

        if isCurrent {
            unsafe jobs.append(job)
        } else {
            let isFirst = incoming.withLock { waiting in
                waiting.append(job)
                return waiting.count == 1
            }
            if isFirst { poller.wake() }
        }
    }

    /// Traps if the caller is not on the loop's thread. The Swift runtime calls it for `assumeIsolated`.
    public func checkIsolated() { precondition(isCurrent, "not on the thread of this event loop") }

    /// Returns `isCurrent`, for the Swift runtime; never `nil`.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    // MARK: - File descriptors and timers (loop thread only)

    /// Reports readiness of `fileDescriptor` to `handler` until `unwatch`, in every iteration of the loop in which it
    /// is ready.
    ///
    /// A second call for the same descriptor replaces interest and handler. The loop retains the handler.
    public func watch(_ fileDescriptor: Int32, for interest: Readiness, handler: any ReadinessHandler) {
        checkIsolated()

        let index = Int(fileDescriptor)
        if unsafe index >= handlers.count {
            unsafe handlers.append(contentsOf: repeatElement(nil, count: index + 1 - handlers.count))
        }

        // Writing the same handler again would cost a retain and a release.
        if unsafe handlers[index] !== handler { unsafe handlers[index] = handler }
        poller.watch(fileDescriptor, for: interest)
    }

    /// Ends the watch. Call it before the descriptor is closed, because the system reuses its number.
    public func unwatch(_ fileDescriptor: Int32) {
        checkIsolated()
        guard unsafe handlers.indices.contains(Int(fileDescriptor)) else { return }

        unsafe handlers[Int(fileDescriptor)] = nil
        poller.watch(fileDescriptor, for: [])
    }

    /// Runs `action` on the loop at `due`: never early, and up to 1 ms late, or later on a busy loop.
    /// - Returns: The id to pass to `cancel`.
    @discardableResult
    public func schedule(at due: Instant, action: @escaping () -> Void) -> TimerID {
        checkIsolated()
        return unsafe timers.add(at: due, rank: driver?.timerRank ?? 0, action: action)
    }

    /// Cancels a timer. Does nothing if it has already run.
    public func cancel(_ timer: TimerID) {
        checkIsolated()
        unsafe timers.cancel(timer)
    }

    // MARK: - Clocks and random numbers (from any thread), and times of the loop (loop thread only)

    /// The current time. All code on a loop reads this and no other clock, so that a simulation controls it.
    public var now: Instant {
        guard let driver else { return SystemClock.now }
        return driver.now
    }

    /// The current wall-clock time.
    public var wallNow: WallTime {
        guard let driver else { return SystemClock.wallTime }
        return driver.wallNow
    }

    /// A random number generator for all code on the loop: jitter, names, ids.
    public var random: LoopRandom { LoopRandom(driver) }

    /// Returns a random number from `random`.
    public func randomNumber() -> UInt64 { random.next() }

    /// The total time since the loop began in which it was idle, waiting for sockets, timers or other threads.
    public var asleep: Duration {
        checkIsolated()
        return unsafe slept
    }

    /// The total time since the loop began in which it ran jobs, handlers and timers, up to now.
    public var busy: Duration {
        checkIsolated()
        return unsafe began.duration(to: now) - slept
    }

    /// The longest time for which the loop has run jobs, handlers and timers without polling the sockets. Always 0 on a
    /// simulated loop, in which time passes only between iterations.
    package var longestPassWithoutPolling: Duration {
        checkIsolated()
        return unsafe longestPass
    }

    // MARK: - The thread

    private func run() {
        threadID.store(LoopThread.currentID, ordering: .relaxed)
        LoopThread.nameCurrent()

        unsafe began = now
        var awake = SystemClock.now
        while true {
            runJobs()
            if stopping.load(ordering: .acquiring), !hasJobs { break }

            let start = SystemClock.now
            unsafe longestPass = max(longestPass, awake.duration(to: start))
            var end: Instant?
            poller.wait(milliseconds: timeToWait) { fileDescriptor, readiness in
                if end == nil { end = SystemClock.now }
                unsafe handlers[Int(fileDescriptor)]?.ready(fileDescriptor, readiness: readiness)
            }
            awake = end ?? SystemClock.now
            unsafe slept += start.duration(to: awake)

            runTimers()
        }
        end()
    }

    /// Releases the handlers, and marks the loop as ended.
    private func end() {
        // Releasing a handler may destroy it, and its `deinit` may end other watches. Therefore the list is emptied
        // first, so that it is not in use at that time.
        let last = unsafe handlers
        unsafe handlers = []
        withExtendedLifetime(last) {}
        stopped.store(true, ordering: .releasing)
    }

    /// Runs one iteration of a loop without a thread: ready sockets reported by the driver, due timers, and jobs. The
    /// calling thread acts as the loop's thread during the call.
    /// - Parameter rest: The idle time of the loop since the last iteration.
    package func runIteration(after rest: Duration) {
        actAsThread {
            unsafe slept += rest
            poller.wait(milliseconds: 0) { fileDescriptor, readiness in
                guard unsafe handlers.indices.contains(Int(fileDescriptor)) else { return }
                unsafe handlers[Int(fileDescriptor)]?.ready(fileDescriptor, readiness: readiness)
            }
            runTimers()
            runJobs()
            if stopping.load(ordering: .acquiring), !hasJobs { end() }
        }
    }

    /// Runs `body` while the calling thread acts as the thread of a loop without one.
    package func actAsThread<Value>(_ body: () -> Value) -> Value {
        threadID.store(LoopThread.currentID, ordering: .relaxed)
        defer { threadID.store(0, ordering: .relaxed) }
        return body()
    }

    private var hasJobs: Bool {
        if unsafe !jobs.isEmpty { return true }
        return incoming.withLock { !$0.isEmpty }
    }

    /// Runs the ready jobs and those that they enqueue, for at most eight rounds, so that many jobs cannot starve the
    /// sockets.
    private func runJobs() {
        // Each job runs as both kinds of executor: see docs/internals/concurrency.md, 1.
        let (actors, tasks) = unsafe (asUnownedSerialExecutor(), asUnownedTaskExecutor())
        for _ in 0..<8 {
            incoming.withLock { waiting in
                guard !waiting.isEmpty else { return }
                unsafe jobs.append(contentsOf: waiting)
                waiting.removeAll(keepingCapacity: waiting.capacity <= 4096)
            }
            if unsafe jobs.isEmpty { return }

            unsafe swap(&jobs, &running)
            for job in unsafe running { unsafe job.runSynchronously(isolatedTo: actors, taskExecutor: tasks) }
            unsafe running.removeAll(keepingCapacity: true)
        }
    }

    /// Runs at most `mostTimersAtOnce` due timers. The next iteration runs the others, after it has polled the sockets.
    private func runTimers() {
        guard unsafe timers.nextDue != nil else { return }
        let now = now
        for _ in 0..<Self.mostTimersAtOnce {
            guard let action = unsafe timers.popDue(at: now) else { return }
            action()
        }
    }

    /// The milliseconds until the next timer, 0 if there are jobs to run, -1 without timers.
    ///
    /// Rounded up, so that a timer never fires early and the loop never spins on one that is almost due.
    package var timeToWait: Int32 {
        if hasJobs { return 0 }

        guard let due = unsafe timers.nextDue else { return -1 }
        let wait = (due - now).milliseconds(roundedUp: true)
        return Int32(min(max(wait, 0), 3_600_000))
    }
}
