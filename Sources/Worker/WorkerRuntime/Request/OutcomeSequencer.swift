internal import Basics
internal import DequeModule
internal import EventLoop

/// Lets outcomes leave in the order in which their requests came, per group (a key or a partition). Requests still run
/// side by side: only the handing over waits, and no longer than the deadline of the request at the head.
///
/// Confined to one actor; not `Sendable`.
final class OutcomeSequencer<Group: Hashable> {
    /// A request's turn within its group.
    final class Turn {
        let group: Group
        private unowned let sequencer: OutcomeSequencer
        fileprivate var hasLeft = false
        fileprivate var start = Condition()

        fileprivate init(_ group: Group, of sequencer: OutcomeSequencer) {
            self.group = group
            self.sequencer = sequencer
        }

        /// True once all earlier turns of the group have left.
        var hasCome: Bool { sequencer.isFirst(self) || isPutBack(.outOfTurn) }

        /// Returns once all earlier turns of the group have left.
        func wait() async {
            guard !hasCome else { return }
            await suspend(unless: sequencer.isFirst(self)) { start.add($0) }
        }

        /// Ends the turn, whether the outcome went out or the request was dropped: the next may go. A second call changes
        /// nothing.
        func leave() {
            guard !hasLeft else { return }
            hasLeft = true
            sequencer.advance(group)
        }
    }

    private var groups: [Group: Deque<Turn>] = [:]

    /// The number of groups that have a turn under way.
    var groupCount: Int { groups.count }

    /// Takes the next turn of the group. Call it in the order of the requests.
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
