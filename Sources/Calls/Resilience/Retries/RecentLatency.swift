internal import Basics

/// The durations of recent calls to a provider: a histogram of the last 128 to 256.
///
/// A plain value. Recording a call costs a few instructions and no allocation.
public struct RecentLatency: Sendable {
    private static let callsPerGeneration = 128
    /// Four buckets for each doubling, from 1 ms to 65 s.
    private static let bucketCount = 64
    private static let highShare = 0.95

    private var current = [UInt16](repeating: 0, count: bucketCount)
    private var previous = [UInt16](repeating: 0, count: bucketCount)
    private var currentCount = 0
    private var previousCount = 0

    /// The 95th percentile of recent durations, rounded up by at most a quarter; `nil` before the first call.
    public private(set) var high: Duration?

    public init() {}

    /// The number of calls behind `high`.
    public var count: Int { currentCount + previousCount }

    /// Records an answered call.
    public mutating func note(_ latency: Duration) {
        if currentCount == Self.callsPerGeneration {
            swap(&current, &previous)
            previousCount = currentCount
            currentCount = 0
            for index in current.indices { current[index] = 0 }
        }
        current[Self.bucket(of: latency)] += 1
        currentCount += 1

        if count <= 16 || currentCount.isMultiple(of: 16) { high = computedHigh }
    }

    private var computedHigh: Duration {
        var above = Int(saturating: (1 - Self.highShare) * Double(count))
        for index in (0..<Self.bucketCount).reversed() {
            above -= Int(current[index]) + Int(previous[index])
            if above < 0 { return Self.upperBound(of: index) }
        }
        return Self.upperBound(of: 0)
    }

    private static func bucket(of latency: Duration) -> Int {
        let milliseconds = max(1, latency.inSeconds * 1000)
        let quarter = Int(saturating: (milliseconds.significand - 1) * 4)
        return min(bucketCount - 1, Int(milliseconds.exponent) * 4 + quarter)
    }

    private static func upperBound(of bucket: Int) -> Duration {
        let (power, quarters) = (Double(1 << (bucket / 4)), Double(bucket % 4 + 1))
        return .milliseconds(1) * (power * (1 + quarters / 4))
    }
}
