internal import CoreMetrics
internal import Metrics

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
