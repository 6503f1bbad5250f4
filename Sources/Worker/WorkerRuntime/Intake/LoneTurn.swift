internal import Synchronization

/// The turn in which one lane of a process runs a record with nothing else under way in the process, so that the record is to blame if
/// the process ends meanwhile. The other lanes begin nothing until the turn is over.
///
/// Shared by the lanes of a process. Safe to use from any of them.
public final class LoneTurn: Sendable {
    /// Says whether nothing is under way on a lane.
    typealias IsQuiet = @Sendable () async -> Bool

    private let lanes = Mutex<[IsQuiet]>([])
    /// The lane that has the turn; -1 while none has.
    private let owner = Atomic<Int>(-1)

    public init() {}

    /// Adds a lane.
    /// - Returns: its number among the lanes that share the turn.
    func add(_ isQuiet: @escaping IsQuiet) -> Int {
        lanes.withLock { lanes in
            lanes.append(isQuiet)
            return lanes.count - 1
        }
    }

    /// True while a lane has the turn.
    var isTaken: Bool { owner.load(ordering: .sequentiallyConsistent) >= 0 }

    /// True while another lane has the turn: nothing may begin.
    func isTaken(besides lane: Int) -> Bool {
        let owner = owner.load(ordering: .sequentiallyConsistent)
        return owner >= 0 && owner != lane
    }

    /// Takes the turn.
    /// - Returns: `false` while another lane has it.
    func take(for lane: Int) -> Bool {
        owner.compareExchange(expected: -1, desired: lane, ordering: .sequentiallyConsistent).exchanged
    }

    /// Ends the turn, where the lane has it.
    func end(of lane: Int) { _ = owner.compareExchange(expected: lane, desired: -1, ordering: .sequentiallyConsistent) }

    /// Asks the other lanes whether nothing is under way on them.
    func isQuiet(besides lane: Int) async -> Bool {
        for (number, isQuiet) in lanes.withLock({ $0 }).enumerated() where number != lane {
            guard await isQuiet() else { return false }
        }
        return true
    }
}
