internal import DequeModule
internal import EventLoop

/// Lets records leave side by side, or one of them alone.
///
/// A record that was refused in a batch is sent again alone, to learn whether it is the one that is too large. Until then
/// nothing else is handed over, and nothing is on its way. Confined to one actor; not `Sendable`.
final class SharedTurns {
    private var sharing = 0
    private var isTakenAlone = false
    private var sharers: [CheckedContinuation<Void, Never>] = []
    private var loners: Deque<CheckedContinuation<Void, Never>> = []

    /// `false` while a record is sent alone, or waits for that.
    var isOpen: Bool { !isTakenAlone && loners.isEmpty }

    /// Enters side by side with others. Each call is followed by `leave`.
    func enter() async {
        if !isOpen { await waitUntilOpen() }
        sharing += 1
    }

    /// Enters side by side with others while the turns are open. Each call is followed by `leave`.
    func enterAtOnce() { sharing += 1 }

    func leave() {
        sharing -= 1
        admitNext()
    }

    /// Enters alone: waits until all others have left, in the order of the calls. Each call is followed by `leaveAlone`.
    func enterAlone() async {
        if isTakenAlone || sharing > 0 || !loners.isEmpty {
            // Whoever resumes a waiter takes the turn for it.
            await suspend(unless: takeAlone()) { loners.append($0) }
        } else {
            isTakenAlone = true
        }
    }

    func leaveAlone() {
        isTakenAlone = false
        admitNext()
    }

    private func takeAlone() -> Bool {
        guard !isTakenAlone, sharing == 0, loners.isEmpty else { return false }
        isTakenAlone = true
        return true
    }

    private func waitUntilOpen() async {
        while !isOpen {
            await suspend(unless: isOpen) { sharers.append($0) }
        }
    }

    private func admitNext() {
        guard !isTakenAlone, sharing == 0 else { return }

        if let next = loners.popFirst() {
            isTakenAlone = true
            next.resume()
        } else if !sharers.isEmpty {
            let waiting = sharers
            sharers.removeAll()
            for waiter in waiting { waiter.resume() }
        }
    }
}
