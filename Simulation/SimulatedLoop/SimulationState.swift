internal import Basics
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The state that a simulation and its loops share. It belongs to the thread that made it. The lock protects
/// against other threads, which must not use it.
final class SimulationState: Sendable {
    /// The first instant. It is not zero, so that a zero is recognised as a mistake.
    static let beginning = Instant(nanoseconds: 1_000_000_000_000)

    let settings: Simulation.Settings
    /// `Settings.turnTime` in nanoseconds.
    private let turnTime: ClosedRange<Int64>
    private let thread = SimulationState.currentThread
    private let wokenFromOutside = Mutex<String?>(nil)

    // Unsafe because the compiler cannot see that only the simulation's thread uses them.
    nonisolated(unsafe) var now = SimulationState.beginning
    nonisolated(unsafe) var schedule: SeededGenerator
    private nonisolated(unsafe) var events = EventQueue()
    /// The time of each loop's next iteration, by the loop's number. Stored apart from the loops, because each step reads all of them.
    nonisolated(unsafe) var turns: [Instant] = []
    nonisolated(unsafe) var onNote: ((String) -> Void)?
    /// Called for each clock whose drift has changed.
    ///
    /// Weak references from clocks to loops would also work, but would make every retain of a driver several times as expensive.
    nonisolated(unsafe) var onDrift: ((SimulatedClock) -> Void)?
    nonisolated(unsafe) var digest: UInt64 = 0xcbf2_9ce4_8422_2325

    init(_ settings: Simulation.Settings, schedule: SeededGenerator) {
        self.settings = settings
        let (least, most) = (settings.turnTime.lowerBound, settings.turnTime.upperBound)
        turnTime = least.wholeNanoseconds...most.wholeNanoseconds
        unsafe self.schedule = schedule
    }

    // MARK: - Events

    /// The due time of the first event; `nil` if there is none.
    var firstEvent: Instant? { unsafe events.firstDue }

    func addEvent(at due: Instant, _ action: @escaping () -> Void) {
        unsafe events.add(at: due, rank: schedule.next(), EventQueue.Action(run: action))
    }

    /// Removes the event that is due first, and returns its action.
    func takeEvent() -> EventQueue.Action? { unsafe events.takeFirst() }

    func forgetEvents() {
        // Freeing an action may schedule another one, so the queue is emptied before its actions are freed.
        let forgotten = unsafe exchange(&events, with: EventQueue())
        withExtendedLifetime(forgotten) {}
    }

    // MARK: - Calls from other threads

    /// The first loop that was woken from another thread.
    var loopWokenFromOutside: String? { wokenFromOutside.withLock { $0 } }

    /// Returns whether the caller is on the simulation's thread. Records a call from another thread, which is a mistake.
    func isOnThread(loop: String) -> Bool {
        if Self.currentThread == thread { return true }
        wokenFromOutside.withLock { $0 = $0 ?? loop }
        return false
    }

    /// Returns the virtual time that an iteration takes.
    func turnCost() -> Duration { .nanoseconds(unsafe Int64.random(in: turnTime, using: &schedule)) }

    func timerRank() -> UInt16 { unsafe UInt16(truncatingIfNeeded: schedule.next()) }

    /// Adds a line to the trace, and to its digest.
    func note(_ text: String) {
        let line = unsafe "\(Self.text(now)) \(text)"
        // FNV-1a.
        for byte in line.utf8 { unsafe digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        unsafe onNote?(line)
    }

    /// Records an iteration of a loop.
    func noteTurn(of loop: SimulatedLoop) {
        unsafe digest = (digest ^ UInt64(bitPattern: now.nanoseconds) ^ UInt64(loop.number) << 56) &* 0x100_0000_01b3
        unsafe onNote?("\(Self.text(now)) \(loop.name)")
    }

    /// Returns an instant as seconds since the beginning, to the nanosecond.
    static func text(_ instant: Instant) -> String {
        let nanoseconds = beginning.duration(to: instant).wholeNanoseconds
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let digits = String(rest.magnitude)
        return "\(seconds).\(String(repeating: "0", count: max(0, 9 - digits.count)))\(digits)"
    }

    private static var currentThread: UInt {
        #if canImport(Darwin)
            return unsafe UInt(bitPattern: pthread_self())
        #else
            return UInt(pthread_self())
        #endif
    }
}
