import Synchronization

#if canImport(Glibc)
    internal import CLinux
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Gets told when a file descriptor is ready. Called on the loop's thread, outside any task: an actor on the loop
/// enters its isolation with `assumeIsolated`.
public protocol ReadinessHandler: AnyObject, Sendable {
    func ready(_ fileDescriptor: Int32, _ readiness: Readiness)
}

/// One thread that waits for sockets and timers and runs Swift jobs in between.
///
/// It is a `SerialExecutor`: actors that name it as their `unownedExecutor` all live on this thread, and calls between
/// them switch neither thread nor queue. It is a `TaskExecutor` too: a task's continuation resumes on no actor at first,
/// which without a preference means the global pool and two switches of thread. So tasks that live on this thread are
/// started with `executorPreference: loop`. Together that is what makes a request cheap.
/// An async closure that belongs to no actor undoes it: each `await` in and beneath it goes by way of the queue. A closure
/// that is handed on belongs to the actor of the function around it only if it names that (`self`, or `_ = isolation`).
/// A task without that preference may use the loop's actors too, but each `await` in them lets others run first, even one
/// that has nothing to wait for: what an actor found true before an `await` is looked at again in its body.
/// `enqueue` and `execute` may be called from any thread, everything else only on the loop's own (checked).
public final class EventLoop: SerialExecutor, TaskExecutor {
    private let poller: any Poller
    /// Jobs from other threads, and whether the loop has yet to be woken for them.
    private let incoming = Mutex<[UnownedJob]>([])
    private let stopping = Atomic<Bool>(false)
    private let threadID = Atomic<UInt>(0)
    private let stopped = Atomic<Bool>(false)

    // The five below: loop thread only, each way in checks `isCurrent`.
    private nonisolated(unsafe) var jobs: [UnownedJob] = []
    private nonisolated(unsafe) var running: [UnownedJob] = []
    private nonisolated(unsafe) var handlers: [(any ReadinessHandler)?] = []
    private nonisolated(unsafe) var timers = LoopTimers()
    private nonisolated(unsafe) var slept = Duration.zero

    /// Starts the loop's thread.
    /// - Throws: when the system has no thread or file descriptor left.
    public convenience init() throws(EventLoopError) {
        #if os(Linux)
            try self.init(poller: EpollPoller())
        #else
            try self.init(poller: PollPoller())
        #endif
    }

    init(poller: any Poller) throws(EventLoopError) {
        self.poller = poller
        unsafe jobs.reserveCapacity(512)
        unsafe running.reserveCapacity(512)
        try start()
    }

    /// Whether the calling code runs on this loop's thread.
    public var isCurrent: Bool { threadID.load(ordering: .relaxed) == Self.currentThreadID }

    /// Ends the thread once the jobs that are ready have run. Jobs enqueued later never run: end the tasks first.
    public func stop() {
        stopping.store(true, ordering: .releasing)
        poller.wake()
    }

    /// Whether the thread has ended.
    public var isStopped: Bool { stopped.load(ordering: .acquiring) }

    // MARK: - Executor

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

    public func checkIsolated() { precondition(isCurrent, "not on the thread of this event loop") }

    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    // MARK: - File descriptors and timers (loop thread only)

    /// Reports readiness of `fileDescriptor` to `handler`, which is kept, until `unwatch`. Level-triggered.
    public func watch(_ fileDescriptor: Int32, for interest: Readiness, _ handler: any ReadinessHandler) {
        checkIsolated()
        let index = Int(fileDescriptor)
        if unsafe index >= handlers.count {
            unsafe handlers.append(contentsOf: repeatElement(nil, count: index + 1 - handlers.count))
        }
        if unsafe handlers[index] !== handler { unsafe handlers[index] = handler }
        poller.watch(fileDescriptor, for: interest)
    }

    /// Ends the watch. Call it before the descriptor is closed.
    public func unwatch(_ fileDescriptor: Int32) {
        checkIsolated()
        guard unsafe handlers.indices.contains(Int(fileDescriptor)) else { return }
        unsafe handlers[Int(fileDescriptor)] = nil
        poller.watch(fileDescriptor, for: [])
    }

    /// Runs `action` on the loop once `due` has come. Resolution: 1 ms, never early.
    @discardableResult
    public func schedule(at due: ContinuousClock.Instant, _ action: @escaping () -> Void) -> TimerID {
        checkIsolated()
        return unsafe timers.add(at: due, action)
    }

    /// Forgets a timer; nothing happens when it has already run.
    public func cancel(_ timer: TimerID) {
        checkIsolated()
        unsafe timers.cancel(timer)
    }

    /// Suspends the caller, which runs on the loop, for so long. Cancellation does not end it.
    public func pause(_ time: Duration) async {
        await withCheckedContinuation { continuation in
            _ = schedule(at: .now + time) { continuation.resume() }
        }
    }

    /// For how long the loop had nothing to do, since it began.
    public var asleep: Duration {
        checkIsolated()
        return unsafe slept
    }

    // MARK: - The thread

    private func start() throws(EventLoopError) {
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        // The thread owns a reference to the loop until it ends.
        let this = unsafe Unmanaged.passRetained(self)
        let result = unsafe pthread_create(
            &thread, nil,
            { context in
                #if canImport(Darwin)
                    let loop = unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
                #else
                    guard let context = unsafe context else { return nil }
                    let loop = unsafe Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
                #endif
                loop.run()
                return nil
            }, this.toOpaque())
        guard result == 0 else {
            unsafe this.release()
            throw EventLoopError(operation: "pthread_create", code: result)
        }
        #if canImport(Darwin)
            if let thread = unsafe thread { unsafe pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
    }

    /// For `top -H` and profilers.
    static let threadName = "event-loop"

    private func run() {
        threadID.store(Self.currentThreadID, ordering: .relaxed)
        #if canImport(Darwin)
            unsafe _ = pthread_setname_np(Self.threadName)
        #else
            unsafe locsearch_name_thread(Self.threadName)
        #endif
        while true {
            runJobs()
            if stopping.load(ordering: .acquiring), !hasJobs { break }
            let start = ContinuousClock.now
            var end: ContinuousClock.Instant?
            poller.wait(milliseconds: timeToWait) { fileDescriptor, readiness in
                if end == nil { end = .now }
                unsafe handlers[Int(fileDescriptor)]?.ready(fileDescriptor, readiness)
            }
            unsafe slept += start.duration(to: end ?? .now)
            runTimers()
        }
        // Letting go of a handler may end it, and with it other watches: the list must not be in use meanwhile.
        let last = unsafe handlers
        unsafe handlers = []
        withExtendedLifetime(last) {}
        stopped.store(true, ordering: .releasing)
    }

    private var hasJobs: Bool {
        if unsafe !jobs.isEmpty { return true }
        return incoming.withLock { !$0.isEmpty }
    }

    /// Runs what is ready, and what that makes ready; then sockets get their turn again, however much there is.
    private func runJobs() {
        // Each job runs as both: what resumes on the loop as a task executor may go on as any actor of the loop.
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

    private func runTimers() {
        guard unsafe timers.nextDue != nil else { return }
        let now = ContinuousClock.now
        while let action = unsafe timers.popDue(at: now) { action() }
    }

    /// In milliseconds, rounded up: a timer never fires early, and the loop never spins on one that is nearly due.
    private var timeToWait: Int32 {
        if hasJobs { return 0 }
        guard let due = unsafe timers.nextDue else { return -1 }
        let (seconds, attoseconds) = (due - ContinuousClock.now).components
        if seconds < 0 || attoseconds < 0 { return 0 }
        return Int32(clamping: min(seconds, 3600) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    private static var currentThreadID: UInt {
        #if canImport(Darwin)
            return unsafe UInt(bitPattern: pthread_self())
        #else
            return UInt(pthread_self())
        #endif
    }
}
