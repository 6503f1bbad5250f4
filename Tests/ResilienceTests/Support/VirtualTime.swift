import Resilience
import Synchronization

/// An executor and a timer in one, both run by the test's own thread: whole minutes of concurrent waiting pass in a
/// blink, in the same order each time. Tasks must prefer it as their task executor (`Task(executorPreference:)`): without
/// a preference, the runtime takes a resumed task through its thread pool before it comes back to its actor.
final class VirtualTime: SerialExecutor, TaskExecutor, Timekeeper {
    private struct Timer {
        let due: ContinuousClock.Instant
        let serial: Int
        let action: () -> Void
    }
    private let jobs = Mutex<[UnownedJob]>([])
    // The thread of `run` only.
    private nonisolated(unsafe) var timers: [Timer] = []
    private nonisolated(unsafe) var serial = 0
    private nonisolated(unsafe) var current: ContinuousClock.Instant
    /// Timers of an event loop fire up to a millisecond late and more when it is busy.
    private let lateness: Duration
    let start: ContinuousClock.Instant

    init(timersLateBy lateness: Duration = .zero) {
        self.lateness = lateness
        start = .now
        unsafe current = start
    }

    var now: ContinuousClock.Instant { unsafe current }
    var elapsed: Duration { start.duration(to: now) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }
    func checkIsolated() {}
    func isIsolatingCurrentContext() -> Bool? { true }

    func schedule(at due: ContinuousClock.Instant, _ action: @escaping () -> Void) {
        unsafe serial += 1
        // Latest first, so that the next is the last.
        let timer = unsafe Timer(due: max(due, now) + lateness, serial: serial, action: action)
        var (low, high) = unsafe (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            if unsafe timers[middle].due > timer.due { low = middle + 1 } else { high = middle }
        }
        unsafe timers.insert(timer, at: low)
    }

    func sleep(until due: ContinuousClock.Instant) async {
        await withCheckedContinuation { continuation in schedule(at: due) { continuation.resume() } }
    }
    func sleep(for duration: Duration) async { await sleep(until: now + duration) }

    /// Runs what is ready, without moving time.
    func settle() {
        let (serial, task) = unsafe (asUnownedSerialExecutor(), asUnownedTaskExecutor())
        while true {
            let ready = jobs.withLock { waiting in
                defer { waiting.removeAll() }
                return waiting
            }
            if ready.isEmpty { return }
            for job in ready { unsafe job.runSynchronously(isolatedTo: serial, taskExecutor: task) }
        }
    }

    /// Lets so much time pass.
    func run(for duration: Duration) {
        let end = now + duration
        settle()
        while let timer = unsafe timers.last, timer.due <= end {
            unsafe timers.removeLast()
            unsafe current = max(current, timer.due)
            timer.action()
            settle()
        }
        unsafe current = max(current, end)
    }
}

/// Has the types under test live on it, as a `SearchWorker` has.
actor Owner {
    nonisolated let time: VirtualTime
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe time.asUnownedSerialExecutor() }

    init(_ time: VirtualTime) { self.time = time }

    /// Enters the actor from the test's thread.
    nonisolated func enter<T: Sendable>(_ body: (isolated Owner) throws -> T) rethrows -> T {
        try assumeIsolated(body)
    }
}

/// What is counted on the owner.
final class Log<Entry> {
    var entries: [Entry] = []
    var count: Int { entries.count }
    func note(_ entry: Entry) { entries.append(entry) }
}

extension Array where Element == Duration {
    /// The most in any second, from any instant on. Sorted.
    var mostInASecond: Int {
        var (first, most) = (0, 0)
        for (index, time) in self.enumerated() {
            while time - self[first] >= .seconds(1) { first += 1 }
            most = Swift.max(most, index - first + 1)
        }
        return most
    }
}
