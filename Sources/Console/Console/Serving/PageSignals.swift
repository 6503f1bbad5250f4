internal import Synchronization

/// The pages that watch something, each with a separate signal, so that a slow page does not delay others. Safe to use from any thread.
final class PageSignals: Sendable {
    private struct State {
        var pages: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextPage = 0
    }

    private let state = Mutex(State())

    /// True while no page is watching.
    var isEmpty: Bool { state.withLock { $0.pages.isEmpty } }

    /// Notifies every page of a change.
    func notify() {
        let pages = state.withLock { Array($0.pages.values) }
        for page in pages { page.yield() }
    }

    /// Returns a stream with one signal immediately and one per change. Signals that are not yet awaited are merged.
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
