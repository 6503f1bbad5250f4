public import Basics

/// Holds sums over the last stretch of time, in buckets. The oldest bucket leaves as a whole, so that a sum covers between
/// `buckets - 1` and `buckets` bucket widths. Adding and reading cost the same however much was added.
public struct SlidingWindow<Counts: AdditiveArithmetic & Sendable>: Sendable {
    private let width: Duration
    private var buckets: [Counts]
    private var current = 0
    /// The moment at which the current bucket is full; `nil` before the first use.
    private var end: Instant?
    private var total = Counts.zero

    /// - Parameter span: more than zero.
    /// - Parameter buckets: at least 2; ten keep the error of the sum at a tenth.
    public init(span: Duration, buckets: Int = 10) {
        precondition(span > .zero && buckets >= 2, "a window needs a length and two buckets")
        width = span / buckets
        self.buckets = Array(repeating: .zero, count: buckets)
    }

    public mutating func add(_ counts: Counts, at now: Instant) {
        advance(to: now)
        buckets[current] += counts
        total += counts
    }

    public mutating func sum(at now: Instant) -> Counts {
        advance(to: now)
        return total
    }

    /// Forgets everything.
    public mutating func clear() {
        for index in buckets.indices { buckets[index] = .zero }
        total = .zero
    }

    private mutating func advance(to now: Instant) {
        guard let end else {
            self.end = now + width
            return
        }
        if now < end { return }
        let steps = Int(saturating: end.duration(to: now) / width).saturatingAdding(1)
        if steps >= buckets.count {
            clear()
            self.end = now + width
            return
        }
        for _ in 0..<steps {
            current = (current + 1) % buckets.count
            total -= buckets[current]
            buckets[current] = .zero
        }
        self.end = end + width * steps
    }
}
