internal import CoreMetrics
internal import DequeModule
internal import Metrics
import Synchronization

/// Ended spans that wait to be exported, up to a limit. Thread-safe; adding never waits and never fails.
final class SpanQueue: Sendable {
    private struct State {
        var spans: Deque<RecordedSpan> = []
        var onChange: (@Sendable () -> Void)?
    }

    private let limit: Int
    private let batchSize: Int
    private let meters: ExportMeters
    private let state = Mutex(State())

    /// - Parameter limit: the most spans that wait. Further spans are dropped and counted. The older ones are kept, so
    ///   that traces whose export has begun are more likely to be complete.
    init(limit: Int, batchSize: Int, meters: ExportMeters) {
        self.limit = max(limit, batchSize)
        self.batchSize = batchSize
        self.meters = meters
    }

    /// The number of waiting spans.
    var count: Int { state.withLock { $0.spans.count } }

    /// - Parameter action: called with the first waiting span, and with the one that completes a batch, on the thread
    ///   that adds it. It must return at once.
    func onChange(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = action } }

    func add(_ span: RecordedSpan) {
        let (isTaken, action) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard state.spans.count < limit else { return (false, nil) }
            state.spans.append(span)
            let isChange = state.spans.count == 1 || state.spans.count == batchSize
            return (true, isChange ? state.onChange : nil)
        }
        if !isTaken { meters.dropped.increment() }
        action?()
    }

    /// Removes and returns the oldest spans, at most a batch.
    func takeBatch() -> [RecordedSpan] {
        state.withLock { state in
            let batch = Array(state.spans.prefix(batchSize))
            state.spans.removeFirst(batch.count)
            return batch
        }
    }

    /// Removes all waiting spans.
    /// - Returns: their number.
    func removeAll() -> Int {
        state.withLock { state in
            defer { state.spans = [] }
            return state.spans.count
        }
    }
}

/// Counts ended spans by result: exported, dropped or failed. Thread-safe.
struct ExportMeters: Sendable {
    /// Spans that the collector has accepted.
    let exported: Counter
    /// Spans that were never sent, because the queue was full or the process ended.
    let dropped: Counter
    /// Spans that the collector refused, or for which it was unavailable for too long.
    let failed: Counter

    init(factory: any MetricsFactory = MetricsSystem.factory) {
        exported = Counter(label: "locsearch_trace_spans_exported_total", dimensions: [], factory: factory)
        dropped = Counter(label: "locsearch_trace_spans_dropped_total", dimensions: [], factory: factory)
        failed = Counter(label: "locsearch_trace_spans_failed_total", dimensions: [], factory: factory)
    }
}
