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
        if !isTaken { meters.dropped(1) }
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
final class ExportMeters: Sendable {
    private let exportedSpans: Counter
    private let droppedSpans: Counter
    private let failedSpans: Counter

    init(factory: any MetricsFactory = MetricsSystem.factory) {
        exportedSpans = Counter(label: "locsearch_trace_spans_exported_total", dimensions: [], factory: factory)
        droppedSpans = Counter(label: "locsearch_trace_spans_dropped_total", dimensions: [], factory: factory)
        failedSpans = Counter(label: "locsearch_trace_spans_failed_total", dimensions: [], factory: factory)
    }

    /// Counts spans that the collector has accepted.
    func exported(_ count: Int) { increment(exportedSpans, by: count) }

    /// Counts spans that were never sent, because the queue was full or the process ended.
    func dropped(_ count: Int) { increment(droppedSpans, by: count) }

    /// Counts spans that the collector refused, or for which it was unavailable for too long.
    func failed(_ count: Int) { increment(failedSpans, by: count) }

    private func increment(_ counter: Counter, by count: Int) {
        if count > 0 { counter.increment(by: count) }
    }
}
