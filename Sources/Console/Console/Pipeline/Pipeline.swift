internal import Synchronization

/// The newest report of the pipeline, and the pages that look at it. Safe to use from any thread.
package final class Pipeline: Sendable {
    private struct State {
        var report = PipelineReport()
        /// Rises with each report that differs from the one before. 0: there is none yet.
        var version = 0
    }

    private let state = Mutex(State())
    private let pages = PageSignals()

    package init() {}

    package var report: PipelineReport { state.withLock { $0.report } }

    /// True while a page looks: the report may be older while nobody does.
    package var isWatched: Bool { !pages.isEmpty }

    /// Changes the report, and tells the pages where it differs then.
    package func update(_ change: (inout PipelineReport) -> Void) {
        let isNew = state.withLock { state in
            let before = state.report
            change(&state.report)
            guard state.report != before else { return false }
            state.version += 1
            return true
        }
        if isNew { pages.notify() }
    }

    /// Returns the event for a page that has seen the reports up to a version; `nil` when there is nothing newer.
    /// - Parameter withPartitions: false for a page that shows the totals only.
    func event(after seen: inout Int, withPartitions: Bool) -> ServerSentEvent? {
        let (report, version) = state.withLock { ($0.report, $0.version) }
        guard version > seen else { return nil }
        seen = version
        return ServerSentEvent("pipeline", data: PipelineJSON.text(of: report, withPartitions: withPartitions))
    }

    /// Returns a signal for each time that there is a new report; several that are not awaited are one.
    func changes() -> AsyncStream<Void> { pages.changes() }
}
