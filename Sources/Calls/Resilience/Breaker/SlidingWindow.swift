internal import Basics

/// Counts of calls, in one span of time.
struct CallCounts: AdditiveArithmetic, Sendable {
    var calls = 0
    var failures = 0
    var slow = 0
    var retries = 0
    static let zero = CallCounts()

    static func + (a: CallCounts, b: CallCounts) -> CallCounts {
        CallCounts(
            calls: a.calls + b.calls, failures: a.failures + b.failures, slow: a.slow + b.slow,
            retries: a.retries + b.retries)
    }
    static func - (a: CallCounts, b: CallCounts) -> CallCounts {
        CallCounts(
            calls: a.calls - b.calls, failures: a.failures - b.failures, slow: a.slow - b.slow,
            retries: a.retries - b.retries)
    }
}

/// Sums over the most recent span of time, in buckets. The oldest bucket is dropped as a whole, so a sum covers between
/// `buckets - 1` and `buckets` bucket widths. Adding and reading take constant time.
struct SlidingWindow: Sendable {
    private let width: Duration
    private var buckets: [CallCounts]
    private var current = 0
    /// The time at which the current bucket is full; `nil` before the first use.
    private var end: Instant?
    private var total = CallCounts.zero

    /// - Parameter span: more than zero.
    /// - Parameter buckets: at least 2; with ten, the error of the sum is at most a tenth.
    init(span: Duration, buckets: Int = 10) {
        precondition(span > .zero && buckets >= 2, "a window needs a length and two buckets")
        width = span / buckets
        self.buckets = Array(repeating: .zero, count: buckets)
    }

    mutating func add(_ counts: CallCounts, at now: Instant) {
        advance(to: now)
        buckets[current] += counts
        total += counts
    }

    mutating func sum(at now: Instant) -> CallCounts {
        advance(to: now)
        return total
    }

    /// Removes everything.
    mutating func clear() {
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
