import Basics
import Testing

@testable import WorkerRuntime

struct InFlightWindowTests {
    /// Lets periods pass, in each of which the loop is asleep for the given percentage of the time.
    private static func limits(most: Int, isFull: Bool = true, asleep parts: [Int]) -> [Int] {
        var (now, asleep) = (Instant.now, Duration.seconds(7))
        var window = InFlightWindow(most: most, asleep: asleep, at: now)
        return parts.map { part in
            now += InFlightWindow.period
            asleep += InFlightWindow.period * part / 100
            window.adapt(inFlight: isFull ? window.limit : window.limit - 1, asleep: asleep, at: now)
            return window.limit
        }
    }

    @Test func `A loop with time to spare gets all that is allowed`() {
        // Every other period is the one in which the wider window fills.
        #expect(Self.limits(most: 256, asleep: [50, 50, 50, 50, 50]) == [64, 128, 128, 256, 256])
        #expect(Self.limits(most: 300, asleep: [5, 5, 5, 5, 5, 5]) == [64, 128, 128, 256, 256, 300])
    }

    @Test func `What the loop rested before the window filled does not widen it`() {
        #expect(Self.limits(most: 256, asleep: [100, 0, 0]) == [64, 64, 64])
    }

    @Test func `What holds nothing back stays`() {
        #expect(Self.limits(most: 256, isFull: false, asleep: [90, 90]) == [64, 64])
    }

    @Test func `A busy loop gets fewer down to the least`() {
        let limits = Self.limits(most: 256, asleep: [90, 90, 90, 90] + [Int](repeating: 0, count: 10))
        #expect(limits[3] == 256)
        #expect(zip(limits.dropFirst(4), limits.dropFirst(5)).allSatisfy { $0 > $1 || $1 == InFlightWindow.least })
        #expect(limits.last == InFlightWindow.least)
    }

    @Test func `What keeps the loop busy is kept`() {
        #expect(Self.limits(most: 256, asleep: [50, 50, 2, 3, 2]) == [64, 128, 128, 128, 128])
    }

    @Test func `A small allowance is never touched`() {
        #expect(Self.limits(most: 10, asleep: [0, 0, 90, 0]) == [10, 10, 10, 10])
    }

    @Test func `Within a period nothing changes`() {
        let start = Instant.now
        var window = InFlightWindow(most: 256, asleep: .zero, at: start)
        for part in 1..<50 { window.adapt(inFlight: 64, asleep: .milliseconds(part), at: start + .milliseconds(part)) }
        #expect(window.limit == InFlightWindow.least)
    }
}
