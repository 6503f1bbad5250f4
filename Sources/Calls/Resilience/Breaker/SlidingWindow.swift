public import Basics

/// Sums over the most recent span of time, in buckets. The oldest bucket is dropped as a whole, so a sum covers between
/// `buckets - 1` and `buckets` bucket widths. Adding and reading take constant time.
public struct SlidingWindow<Counts: AdditiveArithmetic & Sendable>: Sendable {
    private let width: Duration
    private var buckets: [Counts]
    private var current = 0
    /// The time at which the current bucket is full; `nil` before the first use.
    private var end: Instant?
    private var total = Counts.zero

    /// - Parameter span: more than zero.
    /// - Parameter buckets: at least 2; with ten, the error of the sum is at most a tenth.
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

    /// Removes everything.
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
