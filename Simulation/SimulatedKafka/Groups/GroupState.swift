/// A group: its members, by one of the two protocols, and its offsets.
final class GroupState {
    enum Membership {
        case classic(ClassicGroup)
        case consumer(ConsumerGroup)
    }

    let name: String
    var membership: Membership
    var offsets = GroupOffsets()

    init(name: String, membership: Membership) {
        self.name = name
        self.membership = membership
    }

    var hasMembers: Bool {
        switch membership {
        case .classic(let group): !group.isEmpty
        case .consumer(let group): !group.isEmpty
        }
    }

    var nextDeadline: Int64? {
        switch membership {
        case .classic(let group): group.nextDeadline
        case .consumer(let group): group.nextDeadline
        }
    }

    func fire(at now: Int64) {
        switch membership {
        case .classic(let group): group.fire(at: now)
        case .consumer(let group): group.fire(at: now)
        }
    }

    func reload(at now: Int64) {
        switch membership {
        case .classic(let group): group.reload(at: now)
        case .consumer(let group): group.reload(at: now)
        }
    }
}
