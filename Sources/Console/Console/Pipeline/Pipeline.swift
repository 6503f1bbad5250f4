internal import Synchronization

/// The newest report of the pipeline, and the pages that show it. Safe to use from any thread.
package final class Pipeline: Sendable {
    private struct State {
        var report = PipelineReport()
        /// Increases with each report that differs from the previous one. 0: there is none yet.
        var version = 0
    }

    private let state = Mutex(State())
    private let pages = PageSignals()

    package init() {}

    package var report: PipelineReport { state.withLock { $0.report } }

    /// True while a page is open: without one, the report may be older, and has no workers.
    package var isWatched: Bool { !pages.isEmpty }

    /// Changes the report, and notifies the pages if it differs.
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

    /// Returns the event for a page that has received the reports up to a version; `nil` if there is nothing newer.
    /// - Parameter withPartitions: false for a page that shows only totals.
    func event(after seen: inout Int, withPartitions: Bool) -> ServerSentEvent? {
        let (report, version) = state.withLock { ($0.report, $0.version) }
        guard version > seen else { return nil }
        seen = version
        return ServerSentEvent("pipeline", data: PipelineJSON.text(of: report, withPartitions: withPartitions))
    }

    /// Returns a stream with a signal for each new report. Signals that are not yet awaited are merged.
    func changes() -> AsyncStream<Void> { pages.changes() }
}
