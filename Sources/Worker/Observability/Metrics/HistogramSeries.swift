internal import Basics
internal import CoreMetrics
import Synchronization

/// Counts durations in buckets. An observation is two atomic additions, without a lock. Thread-safe.
final class HistogramSeries: TimerHandler, MetricSeries {
    let kind = MetricDescription.Kind.histogram
    /// The most buckets of a series, including the unbounded one.
    static let mostBuckets = 16

    /// The upper bounds of all buckets but the last, ascending, as texts for the exposition and in nanoseconds.
    private let bounds: [(text: String, nanoseconds: Int64)]
    private let counts = InlineArray<16, Atomic<Int64>> { _ in Atomic(0) }
    private let seconds = AtomicDouble()
    /// The newest exemplar of each bucket; empty until there is one.
    private let exemplars = Mutex<[Int: Exemplar]>([:])

    /// - Parameter bounds: in seconds, ascending; fewer than `mostBuckets`.
    init(bounds: [Double]) {
        precondition(bounds.count < Self.mostBuckets, "a histogram has room for \(Self.mostBuckets) buckets")
        self.bounds = bounds.map { ("\($0)", Int64(saturating: $0 * 1e9)) }
    }

    var isEmpty: Bool { total == 0 }
    var total: Int64 { (0...bounds.count).reduce(0) { $0 + counts[$1].load(ordering: .relaxed) } }

    private func bucket(of duration: Int64) -> Int {
        var bucket = 0
        while bucket < bounds.count, duration > bounds[bucket].nanoseconds { bucket += 1 }
        return bucket
    }

    func recordNanoseconds(_ duration: Int64) {
        counts[bucket(of: duration)].wrappingAdd(1, ordering: .relaxed)
        seconds.add(Double(duration) / 1e9)
    }

    func keep(_ exemplar: Exemplar) {
        let bucket = bucket(of: exemplar.duration.wholeNanoseconds)
        exemplars.withLock { $0[bucket] = exemplar }
    }

    /// Returns the lines of the exposition. The count is the sum of the buckets, so that they agree
    /// even if observations are recorded meanwhile.
    func text(_ name: SeriesName, withExemplars: Bool) -> String {
        let exemplars = withExemplars ? exemplars.withLock { $0 } : [:]
        let prefix = name.dimensions.isEmpty ? "" : name.dimensions + ","
        let labels = name.dimensions.isEmpty ? "" : "{\(name.dimensions)}"
        var (text, sum) = ("", Int64(0))
        for bucket in 0...bounds.count {
            sum += counts[bucket].load(ordering: .relaxed)
            let bound = bucket < bounds.count ? bounds[bucket].text : "+Inf"
            text += "\(name.label)_bucket{\(prefix)le=\"\(bound)\"} \(sum)\(exemplars[bucket]?.text ?? "")\n"
        }
        return text
            + "\(name.label)_sum\(labels) \(PrometheusText.number(seconds.value))\n\(name.label)_count\(labels) \(sum)\n"
    }
}

/// A traced observation of a histogram, by which a person gets from a bucket to a trace.
package struct Exemplar: Sendable {
    /// The observed duration.
    let duration: Duration
    /// 32 hexadecimal digits.
    let traceID: String
    /// When it was observed, in nanoseconds since 1970.
    let time: UInt64

    package init(_ duration: Duration, traceID: String, time: UInt64) {
        (self.duration, self.traceID, self.time) = (duration, traceID, time)
    }

    /// The exemplar as text, to be appended to the value of its bucket.
    fileprivate var text: String {
        " # {trace_id=\"\(traceID)\"} \(duration / .seconds(1)) \(Double(time / 1_000_000) / 1e3)"
    }
}

/// A `Double` that several threads may add to. It is stored as its bits in an atomic integer.
struct AtomicDouble: ~Copyable {
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, found) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = found
        }
    }
}
