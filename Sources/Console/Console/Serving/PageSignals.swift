internal import Synchronization

/// The pages that look at something, each with a signal of its own, so that a slow page holds up none of the others. Safe to use from
/// any thread.
final class PageSignals: Sendable {
    private struct State {
        var pages: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextPage = 0
    }

    private let state = Mutex(State())

    /// True while no page looks.
    var isEmpty: Bool { state.withLock { $0.pages.isEmpty } }

    /// Tells every page that there is something new.
    func notify() {
        let pages = state.withLock { Array($0.pages.values) }
        for page in pages { page.yield() }
    }

    /// Returns a signal for each time that there is something new, and one at once; several that are not awaited are one.
    func changes() -> AsyncStream<Void> {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let page = state.withLock { state in
            state.nextPage += 1
            state.pages[state.nextPage] = continuation
            return state.nextPage
        }

        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            state.withLock { $0.pages[page] = nil }
        }
        continuation.yield()
        return changes
    }
}
