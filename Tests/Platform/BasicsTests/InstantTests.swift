import Basics
import Testing

@Suite struct InstantTests {
    private let instant = Instant(nanoseconds: 5)

    @Test func `Durations can be added and subtracted`() {
        #expect(instant + .seconds(2) == Instant(nanoseconds: 2_000_000_005))
        #expect(instant - .seconds(2) == Instant(nanoseconds: -1_999_999_995))
        #expect(instant.advanced(by: .nanoseconds(-5)) == Instant(nanoseconds: 0))
        #expect(Instant(nanoseconds: 9) - instant == .nanoseconds(4))
        #expect(Instant(nanoseconds: 9).duration(to: instant) == .nanoseconds(-4))
    }

    @Test func `Fractions of a nanosecond are cut off`() {
        #expect(instant + Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999) == Instant(nanoseconds: 6))
        #expect(instant + Duration(secondsComponent: 100, attosecondsComponent: 999_999_999) - instant == .seconds(100))
    }

    @Test func `A result out of range becomes the nearest in range`() {
        let (first, last) = (Instant(nanoseconds: .min), Instant(nanoseconds: .max))
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)

        #expect(instant + longest == last)
        #expect(instant - longest == Instant(nanoseconds: 5 - .max))
        #expect(first - longest == first)
        #expect(Instant(nanoseconds: 0) - Duration(secondsComponent: .min, attosecondsComponent: 0) == last)
        #expect(first.duration(to: last) == .nanoseconds(Int64.max))
        #expect(last.duration(to: first) == .nanoseconds(Int64.min))
    }

    @Test func `The system clock goes forward`() async throws {
        let start = SystemClock.now
        try await SystemClock().sleep(until: start + .milliseconds(5), tolerance: nil)
        #expect(SystemClock.now - start >= .milliseconds(5))
    }
}
