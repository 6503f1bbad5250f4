import EventLoop
import SimulatedKafkaClients

/// The commit of a process that crashes by a trap, as `CrashHandler` makes it.
///
/// All lanes share one prepared commit. It is made only if the lane that crashes has set one.
final class SimulatedCrashHandler: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    /// Makes a commit, and calls back when it is answered or times out.
    typealias Commit = (_ then: @escaping () -> Void) -> Void

    /// The time for which the crashed thread waits, in nanoseconds.
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
