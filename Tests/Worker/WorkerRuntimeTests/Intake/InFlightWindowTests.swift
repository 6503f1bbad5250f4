import Basics
import LocationSearch
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
            let inFlight = window.limit(for: .batch)
            window.adapt(inFlight: isFull ? inFlight : inFlight - 1, asleep: asleep, at: now)
            return window.limit
        }
    }

    @Test(
        arguments: [
            // A loop with time to spare. Every other period is the one in which the wider window fills.
            (256, true, [50, 50, 50, 50, 50], [64, 128, 128, 256, 256]),
            (300, true, [5, 5, 5, 5, 5, 5], [64, 128, 128, 256, 256, 300]),
            // Rest before the window filled does not widen it, and a window that is not full stays.
            (256, true, [100, 0, 0], [64, 64, 64]), (256, false, [90, 90], [64, 64]),
            // A width that keeps the loop busy stays, and so does a small allowance.
            (256, true, [50, 50, 2, 3, 2], [64, 128, 128, 128, 128]), (10, true, [0, 0, 90, 0], [10, 10, 10, 10]),
        ] as [(Int, Bool, [Int], [Int])])
    func `A full window widens while the loop has time`(most: Int, isFull: Bool, asleep: [Int], limits: [Int]) {
        #expect(Self.limits(most: most, isFull: isFull, asleep: asleep) == limits)
    }

    @Test func `A busy loop gets fewer requests down to the minimum`() {
        let limits = Self.limits(most: 256, asleep: [90, 90, 90, 90] + [Int](repeating: 0, count: 10))
        #expect(limits[3] == 256)
        #expect(zip(limits.dropFirst(4), limits.dropFirst(5)).allSatisfy { $0 > $1 || $1 == InFlightWindow.least })
        #expect(limits.last == InFlightWindow.least)
    }

    @Test func `The window changes once in a period`() {
        let start = Instant.now
        var window = InFlightWindow(most: 256, asleep: .zero, at: start)
        for part in 1..<50 { window.adapt(inFlight: 64, asleep: .milliseconds(part), at: start + .milliseconds(part)) }
        #expect(window.limit == InFlightWindow.least)
    }

    @Test func `The window follows the allowance`() {
        var window = InFlightWindow(most: 256, asleep: .zero, at: .now)
        #expect(window.limit == 64)
        window.setMost(10)
        #expect(window.limit == 10)
        window.setMost(256)
        #expect(window.limit == 64)
        window.setMost(1)
        #expect(window.limit == 1)
    }
}
