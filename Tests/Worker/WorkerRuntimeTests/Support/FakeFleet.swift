@testable import QuotaSharing
import Synchronization

/// A member of a fleet that records what its lane reports.
final class FakeFleet: FleetMember, Sendable {
    struct Assignment: Equatable {
        var partitions: [Int32]
        /// The number of partitions of the topic.
        var count: Int
    }

    let sharesByPartitions: Bool
    private let assignments = Mutex<[Assignment]>([])
    var usesMessages: Bool { false }

    init(sharesByPartitions: Bool = true) { self.sharesByPartitions = sharesByPartitions }

    var last: Assignment? { assignments.withLock { $0.last } }

    func assign(_ assigned: [Int32], of partitions: Int, wasTaken: Bool) async {
        assignments.withLock { $0.append(Assignment(partitions: assigned.sorted(), count: partitions)) }
    }
    func tick() async -> FleetTick { FleetTick() }
    func onWakeUp(_ wake: @escaping @Sendable () -> Void) async {}
    func receive(_ news: FleetNews) async -> Bool { false }
    func leave() async -> [FleetMessage] { [] }
}
