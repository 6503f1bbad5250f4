package import CoreMetrics
import Synchronization

/// All metrics of the process, stored as atomics and written as Prometheus text. Thread-safe. Make each handle once and
/// keep it.
package final class MetricsRegistry: MetricsFactory {
    private enum Series {
        case counter(CounterSeries)
        case gauge(GaugeSeries)
        case histogram(HistogramSeries)
    }
    private let series = Mutex<[SeriesName: Series]>([:])

    package init() {}

    private func name(_ label: String, _ dimensions: [(String, String)]) -> SeriesName {
        SeriesName(label: label, dimensions: PrometheusText.labels(dimensions))
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let name = name(label, dimensions)
        return series.withLock { series in
            if case .counter(let known)? = series[name] { return known }
            let made = CounterSeries()
            series[name] = .counter(made)
            return made
        }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        gauge(label, dimensions)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let name = name(label, dimensions)
        return series.withLock { series in
            if case .histogram(let known)? = series[name] { return known }
            let made = HistogramSeries(
                bounds: MetricDescription.named(label)?.bounds ?? MetricDescription.shortBounds)
            series[name] = .histogram(made)
            return made
        }
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> GaugeSeries {
        let name = name(label, dimensions)
        return series.withLock { series in
            if case .gauge(let known)? = series[name] { return known }
            let made = GaugeSeries()
            series[name] = .gauge(made)
            return made
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
                guard entry.key.label == label, case .counter(let counter) = entry.value else { return sum }
                return sum + counter.value
            }
        }
    }

    /// Returns a counter's value; 0 if there is no counter with this name and these labels.
    package func value(of label: String, dimensions: [(String, String)]) -> Int64 {
        let name = name(label, dimensions)
        return series.withLock { series in
            if case .counter(let counter)? = series[name] { counter.value } else { 0 }
        }
    }

    /// All metrics in the exposition format, version 0.0.4. Empty histograms of sparse metrics are omitted.
    package var prometheusText: String {
        let all = series.withLock { $0 }.sorted { $0.key < $1.key }
        var text = ""
        var lastLabel = ""
        for (name, series) in all {
            let labels = name.dimensions.isEmpty ? "" : "{\(name.dimensions)}"
            func head(_ kind: MetricDescription.Kind) {
                guard name.label != lastLabel else { return }
                text += PrometheusText.head(name.label, kind)
                lastLabel = name.label
            }
            switch series {
            case .counter(let counter):
                head(.counter)
                text += "\(name.label)\(labels) \(counter.value)\n"
            case .gauge(let gauge):
                head(.gauge)
                text += "\(name.label)\(labels) \(PrometheusText.number(gauge.value))\n"
            case .histogram(let histogram):
                if histogram.count == 0, MetricDescription.named(name.label)?.isSparse == true { continue }
                head(.histogram)
                text += histogram.text(name)
            }
        }
        return text
    }
}

final class CounterSeries: CounterHandler {
    private let count = Atomic<Int64>(0)
    var value: Int64 { count.load(ordering: .relaxed) }
    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }
}

/// A number that goes up and down.
final class GaugeSeries: MeterHandler, RecorderHandler {
    private let number = AtomicDouble()
    var value: Double { number.value }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { number.set(value) }
    func increment(by amount: Double) { number.add(amount) }
    func decrement(by amount: Double) { number.add(-amount) }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }
}
