internal import DequeModule

/// Lets outcomes leave in the order in which their requests came, per lane (a key or a partition). Requests still run
/// side by side: only the handing over waits, and no longer than the deadline of the request at the head.
///
/// Confined to one actor; not `Sendable`.
final class OutcomeSequencer<Lane: Hashable> {
    /// A request's place in its lane.
    final class Turn {
        fileprivate let lane: Lane
        fileprivate var hasLeft = false
        fileprivate var waiter: CheckedContinuation<Void, Never>?
        fileprivate init(lane: Lane) { self.lane = lane }
    }

    private var lanes: [Lane: Deque<Turn>] = [:]

    /// Takes the next place of the lane: call it in the order of the requests.
    func line(up lane: Lane) -> Turn {
        let turn = Turn(lane: lane)
        lanes[lane, default: []].append(turn)
        return turn
    }

    /// Returns once all earlier turns of the lane have left.
    func wait(for turn: Turn, isolation: isolated (any Actor)? = #isolation) async {
        guard !isFirst(turn) else { return }
        await withCheckedContinuation { waiter in
            // Looked at again: others may run between an `await` and its body.
            if isFirst(turn) { waiter.resume() } else { turn.waiter = waiter }
        }
    }

    private func isFirst(_ turn: Turn) -> Bool {
        lanes[turn.lane]?.first === turn
    }

    /// Gives the place up, whether the outcome went out or the request was dropped; the next may go.
    func leave(_ turn: Turn) {
        turn.hasLeft = true
        while let first = lanes[turn.lane]?.first, first.hasLeft { lanes[turn.lane]?.removeFirst() }
        guard let next = lanes[turn.lane]?.first else {
            lanes[turn.lane] = nil
            return
        }
        if let waiter = next.waiter {
            next.waiter = nil
            waiter.resume()
        }
    }

    /// Lanes that somebody is in.
    var laneCount: Int { lanes.count }
}
