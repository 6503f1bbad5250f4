import Basics
import Logging
import Synchronization

/// Detects event loops that no longer run jobs, so that `/livez` fails and the process is restarted.
///
/// Each loop gets a small job once per interval. A loop counts as stuck once a job has not run for `timeout`, measured
/// in intervals. Only intervals during which the watch itself ran are counted: if the whole process was stopped
/// (SIGSTOP, a frozen container), that time counts as one interval. Thread-safe.
final class LoopWatch: Sendable {
    private struct Pulse {
        /// True from the moment a job is enqueued until it has run.
        var isAwaited = false
        var missedIntervals = 0
    }

    private let loops: [any TaskExecutor]
    private let interval: Duration
    private let mostMissed: Int
    private let clock: any MonotonicClock
    private let log: Logger
    private let pulses: Mutex<[Pulse]>

    /// - Parameter timeout: how long a loop may run no job before it counts as stuck; a multiple of `interval`.
    init(
        _ loops: [any TaskExecutor], timeout: Duration = .seconds(10), interval: Duration = .seconds(1),
        clock: any MonotonicClock = SystemClock(), log: Logger
    ) {
        self.loops = loops
        self.interval = interval
        mostMissed = Int(saturating: timeout / interval)
        self.clock = clock
        self.log = log
        pulses = Mutex(Array(repeating: Pulse(), count: loops.count))
    }

    /// Describes which loop is stuck and for how long; `nil` while every loop runs its jobs.
    var problem: String? {
        let missed = pulses.withLock { $0.map(\.missedIntervals) }
        guard let number = missed.firstIndex(where: { $0 >= mostMissed }) else { return nil }
        return "event loop \(number) has been blocked for \((interval * missed[number]).readable)"
    }

    /// Watches until the task is cancelled.
    func run() async {
        while (try? await clock.sleep(until: clock.now + interval, tolerance: nil)) != nil {
            for number in loops.indices { check(number) }
        }
    }

    private func check(_ number: Int) {
        let missed = pulses.withLock { pulses in
            if pulses[number].isAwaited {
                pulses[number].missedIntervals += 1
            } else {
                pulses[number] = Pulse(isAwaited: true)
            }
            return pulses[number].missedIntervals
        }
        if missed == mostMissed {
            log.error(
                "an event loop is blocked; /livez fails until it continues",
                metadata: ["loop": "\(number)", "for": "\((interval * missed).readable)"])
        }

        // While one job is pending, a second one would give no more information.
        if missed == 0 { Task(executorPreference: loops[number]) { self.noteRun(of: number) } }
    }

    private func noteRun(of number: Int) {
        let missed = pulses.withLock { pulses in
            defer { pulses[number] = Pulse() }
            return pulses[number].missedIntervals
        }
        guard missed >= mostMissed else { return }
        log.info(
            "the event loop continues", metadata: ["loop": "\(number)", "after": "\((interval * missed).readable)"])
    }
}
