internal import CoreMetrics
internal import Metrics

/// Counts what becomes of ended spans: each is exported, dropped or failed. Thread-safe.
final class ExportMeters: Sendable {
    private let exportedSpans: Counter
    private let droppedSpans: Counter
    private let failedSpans: Counter

    init(factory: any MetricsFactory = MetricsSystem.factory) {
        exportedSpans = Counter(label: "locsearch_trace_spans_exported_total", dimensions: [], factory: factory)
        droppedSpans = Counter(label: "locsearch_trace_spans_dropped_total", dimensions: [], factory: factory)
        failedSpans = Counter(label: "locsearch_trace_spans_failed_total", dimensions: [], factory: factory)
    }

    /// Spans that the collector has taken.
    func exported(_ count: Int) { increment(exportedSpans, by: count) }

    /// Spans that were never sent: too many waited, or the process ended.
    func dropped(_ count: Int) { increment(droppedSpans, by: count) }

    /// Spans that were sent in vain: the collector refused them, or was away for too long.
    func failed(_ count: Int) { increment(failedSpans, by: count) }

    private func increment(_ counter: Counter, by count: Int) {
        if count > 0 { counter.increment(by: count) }
    }
}
