import EventLoop
import SimulatedKafkaClients

/// What a process commits where it crashes by a fault of its own, as `CrashHandler` does: one commit at a time for all lanes, made only
/// where a lane crashes that has asked for one.
final class SimulatedCrashHandler: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    /// Makes a commit, and calls back once it is answered or takes too long.
    typealias Commit = (_ then: @escaping () -> Void) -> Void

    /// As long as the thread that crashed waits, in nanoseconds.
    static let bound: Int64 = 2_000_000_000

    private var commit: Commit?
    private var held: Set<ObjectIdentifier> = []

    func set(_ commit: Commit?, on loop: EventLoop) {
        if commit == nil, self.commit == nil { return }
        self.commit = commit
        if commit == nil { held.remove(ObjectIdentifier(loop)) } else { held.insert(ObjectIdentifier(loop)) }
    }

    /// Makes the commit, if there is one, for a lane that has crashed.
    func run(on loop: EventLoop, then: @escaping () -> Void) {
        guard held.contains(ObjectIdentifier(loop)), let commit else { return then() }
        commit(then)
    }
}
