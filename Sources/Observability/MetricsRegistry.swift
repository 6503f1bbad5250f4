package import CoreMetrics
import Synchronization

/// All metrics of the process, kept as atomics and written as Prometheus text. Thread-safe; handles are meant to be
/// made once and kept.
package final class MetricsRegistry: MetricsFactory {
    /// Upper bounds in seconds: OpenTelemetry's advice for durations of messaging operations.
    static let bounds: [Double] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

    struct Name: Hashable, Comparable {
        let label: String
        let dimensions: String
        static func < (a: Name, b: Name) -> Bool { (a.label, a.dimensions) < (b.label, b.dimensions) }
    }
    private enum Series {
        case counter(CounterSeries)
        case gauge(GaugeSeries)
        case histogram(HistogramSeries)
    }
    private let series = Mutex<[Name: Series]>([:])

    package init() {}

    private func name(_ label: String, _ dimensions: [(String, String)]) -> Name {
        Name(label: label, dimensions: PrometheusText.labels(dimensions))
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
            let made = HistogramSeries()
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

    /// A counter's value, summed over its labels; 0 when there is none of that name.
    package func total(of label: String) -> Int64 {
        series.withLock { series in
            series.reduce(0) { sum, entry in
                guard entry.key.label == label, case .counter(let counter) = entry.value else { return sum }
                return sum + counter.value
            }
        }
    }

    /// The exposition format, version 0.0.4.
    package var prometheusText: String {
        let all = series.withLock { $0 }.sorted { $0.key < $1.key }
        var text = ""
        var lastLabel = ""
        for (name, series) in all {
            let labels = name.dimensions.isEmpty ? "" : "{\(name.dimensions)}"
            func head(_ type: String) {
                guard name.label != lastLabel else { return }
                if let help = MetricHelp.texts[name.label] { text += "# HELP \(name.label) \(help)\n" }
                text += "# TYPE \(name.label) \(type)\n"
            }
            switch series {
            case .counter(let counter):
                head("counter")
                text += "\(name.label)\(labels) \(counter.value)\n"
            case .gauge(let gauge):
                head("gauge")
                text += "\(name.label)\(labels) \(PrometheusText.number(gauge.value))\n"
            case .histogram(let histogram):
                head("histogram")
                text += histogram.text(name)
            }
            lastLabel = name.label
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

/// A number that goes up and down. Kept as the bits of a `Double`, so that an atomic is enough.
final class GaugeSeries: MeterHandler, RecorderHandler {
    private let bits = Atomic<UInt64>(0)
    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }

    private func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, found) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = found
        }
    }
}

final class HistogramSeries: TimerHandler {
    private struct State {
        var counts = [Int64](repeating: 0, count: MetricsRegistry.bounds.count + 1)
        var nanoseconds: Int64 = 0
    }
    private let state = Mutex(State())

    func recordNanoseconds(_ duration: Int64) {
        let seconds = Double(duration) / 1e9
        let index = MetricsRegistry.bounds.firstIndex { seconds <= $0 } ?? MetricsRegistry.bounds.count
        state.withLock { state in
            state.counts[index] += 1
            state.nanoseconds += duration
        }
    }

    func text(_ name: MetricsRegistry.Name) -> String {
        let state = state.withLock { $0 }
        let prefix = name.dimensions.isEmpty ? "" : name.dimensions + ","
        let labels = name.dimensions.isEmpty ? "" : "{\(name.dimensions)}"
        var (text, sum) = ("", Int64(0))
        for (index, count) in state.counts.enumerated() {
            sum += count
            let bound = index < MetricsRegistry.bounds.count ? "\(MetricsRegistry.bounds[index])" : "+Inf"
            text += "\(name.label)_bucket{\(prefix)le=\"\(bound)\"} \(sum)\n"
        }
        return text
            + "\(name.label)_sum\(labels) \(Double(state.nanoseconds) / 1e9)\n\(name.label)_count\(labels) \(sum)\n"
    }
}
