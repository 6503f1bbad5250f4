internal import Basics
internal import DequeModule
internal import EventLoop

/// Publishes outcomes in the order of their requests, per group (a key or a partition). Requests still run
/// concurrently: only publishing waits, at most until the deadline of the group's first request.
///
/// Confined to one actor; not `Sendable`.
final class OutcomeSequencer<Group: Hashable> {
    /// A request's position in the order of its group.
    final class Turn {
        let group: Group
        private unowned let sequencer: OutcomeSequencer
        fileprivate var hasLeft = false
        fileprivate var start = Condition()

        fileprivate init(_ group: Group, of sequencer: OutcomeSequencer) {
            self.group = group
            self.sequencer = sequencer
        }

        /// True once all earlier requests of the group have left.
        var hasCome: Bool { sequencer.isFirst(self) }

        /// Returns once all earlier requests of the group have left.
        func wait() async {
            guard !hasCome else { return }
            await suspend(unless: sequencer.isFirst(self)) { start.add($0) }
        }

        /// Leaves the order, with an outcome or without, so that the next request may publish. A second call changes
        /// nothing.
        func leave() {
            guard !hasLeft else { return }
            hasLeft = true
            sequencer.advance(group)
        }
    }

    private var groups: [Group: Deque<Turn>] = [:]

    /// The number of groups with unpublished outcomes.
    var groupCount: Int { groups.count }

    /// Appends a position to the group's order. Call it in the order of the requests.
    func nextTurn(in group: Group) -> Turn {
        let turn = Turn(group, of: self)
        groups[group, default: []].append(turn)
        return turn
    }

    private func isFirst(_ turn: Turn) -> Bool { groups[turn.group]?.first === turn }

    private func advance(_ group: Group) {
        while let first = groups[group]?.first, first.hasLeft { groups[group]?.removeFirst() }

        guard let next = groups[group]?.first else {
            groups[group] = nil
            return
        }
        next.start.signal()
    }
}
