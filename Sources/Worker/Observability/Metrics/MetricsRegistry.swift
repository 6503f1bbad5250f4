package import CoreMetrics
import Synchronization

/// All metrics of the process, stored as atomics and written as Prometheus text. Thread-safe. Make each handle once and
/// keep it.
package final class MetricsRegistry: MetricsFactory {
    private let series = Mutex<[SeriesName: any MetricSeries]>([:])

    package init() {}

    private func name(_ label: String, _ dimensions: [(String, String)]) -> SeriesName {
        SeriesName(label: label, dimensions: PrometheusText.labels(dimensions))
    }

    /// Returns the series with a name and these labels, which the first call makes.
    private func handle<Handle: MetricSeries>(
        _ label: String, _ dimensions: [(String, String)], make: () -> Handle
    ) -> Handle {
        let name = name(label, dimensions)
        return series.withLock { series in
            if let known = series[name] as? Handle { return known }
            let made = make()
            series[name] = made
            return made
        }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        handle(label, dimensions) { CounterSeries() }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        handle(label, dimensions) { GaugeSeries() }
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        handle(label, dimensions) { GaugeSeries() }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        handle(label, dimensions) {
            HistogramSeries(bounds: MetricDescription.named(label)?.bounds ?? MetricDescription.shortBounds)
        }
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// Returns a counter's value, summed over its labels; 0 if there is no such counter.
    package func total(of label: String) -> Int64 {
        series.withLock { series in
            series.reduce(0) { sum, entry in
                guard entry.key.label == label, let counter = entry.value as? CounterSeries else { return sum }
                return sum + counter.value
            }
        }
    }

    /// Returns a counter's value, or the number of a histogram's observations; 0 if there is none with this name and
    /// these labels.
    package func value(of label: String, dimensions: [(String, String)]) -> Int64 {
        let name = name(label, dimensions)
        return series.withLock { ($0[name] as? CounterSeries)?.value ?? ($0[name] as? HistogramSeries)?.total ?? 0 }
    }

    /// Keeps an observation as the newest exemplar of its bucket. It is ignored if there is no histogram with this name and
    /// these labels.
    package func keep(_ exemplar: Exemplar, of label: String, dimensions: [(String, String)]) {
        let name = name(label, dimensions)
        series.withLock { $0[name] as? HistogramSeries }?.keep(exemplar)
    }

    /// All metrics in the exposition format, version 0.0.4.
    package var prometheusText: String { text(withExemplars: false) }

    /// Returns all metrics in the exposition format. Version 0.0.4 has no exemplars; a text with them is meant for
    /// `PrometheusText.openMetrics`. Empty histograms of sparse metrics are omitted.
    package func text(withExemplars: Bool) -> String {
        let all = series.withLock { $0 }.sorted { $0.key < $1.key }
        var text = ""
        var lastLabel = ""
        for (name, series) in all {
            if series.isEmpty, MetricDescription.named(name.label)?.isSparse == true { continue }
            if name.label != lastLabel { text += PrometheusText.head(name.label, series.kind) }
            lastLabel = name.label
            text += series.text(name, withExemplars: withExemplars)
        }
        return text
    }
}

final class CounterSeries: CounterHandler, MetricSeries {
    let (kind, isEmpty) = (MetricDescription.Kind.counter, false)
    private let count = Atomic<Int64>(0)
    var value: Int64 { count.load(ordering: .relaxed) }
    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }
    func text(_ name: SeriesName, withExemplars: Bool) -> String { "\(name) \(value)\n" }
}

/// A number that goes up and down.
final class GaugeSeries: MeterHandler, RecorderHandler, MetricSeries {
    let (kind, isEmpty) = (MetricDescription.Kind.gauge, false)
    private let number = AtomicDouble()
    var value: Double { number.value }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.set(value) }
    func increment(by amount: Double) { number.add(amount) }
    func decrement(by amount: Double) { number.add(-amount) }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }
    func text(_ name: SeriesName, withExemplars: Bool) -> String { "\(name) \(PrometheusText.number(value))\n" }
}
