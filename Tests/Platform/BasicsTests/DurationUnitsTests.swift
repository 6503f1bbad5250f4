import Basics
import Testing

struct DurationUnitsTests {
    static let durations: [(Duration, down: Int, up: Int)] = [
        (.zero, 0, 0), (.milliseconds(7), 7, 7), (.microseconds(7001), 7, 8), (.nanoseconds(1), 0, 1),
        (.seconds(3) + .nanoseconds(999_999_999), 3999, 4000), (.milliseconds(-7), -7, -7),
        (.microseconds(-7001), -7, -7), (.seconds(Int64.max), .max, .max), (.seconds(Int64.min), .min, .min),
        (.seconds(9_223_372_036_854_775) + .milliseconds(807), .max, .max),
        (.seconds(9_223_372_036_854_775) + .milliseconds(999), .max, .max),
    ]
    @Test(arguments: durations)
    func `A duration is rounded to whole milliseconds without overflow`(duration: Duration, down: Int, up: Int) {
        #expect(duration.milliseconds(roundedUp: false) == down)
        #expect(duration.milliseconds(roundedUp: true) == up)
    }

    /// Around 9.2 s, from which a duration's attoseconds need a second machine word, and 4722366.5 s, from which they need more.
    static let inNanoseconds: [(Duration, nanoseconds: Int64)] = [
        (.zero, 0), (.nanoseconds(-1), -1), (.nanoseconds(1) / 2, 0), (.nanoseconds(-3) / 2, -1),
        (.nanoseconds(9_223_372_036), 9_223_372_036), (.nanoseconds(9_223_372_037), 9_223_372_037),
        (.nanoseconds(-9_223_372_036), -9_223_372_036), (.nanoseconds(-9_223_372_037), -9_223_372_037),
        (.nanoseconds(4_722_366_482_869_999_999), 4_722_366_482_869_999_999),
        (.nanoseconds(-4_722_366_482_870_000_001), -4_722_366_482_870_000_001),
        (.nanoseconds(Int64.max), .max), (.seconds(9_223_372_037), .max), (.seconds(Int64.max), .max),
        (.seconds(Int64.min), .min),
    ]
    @Test(arguments: inNanoseconds)
    func `A duration is converted to whole nanoseconds without overflow`(duration: Duration, nanoseconds: Int64) {
        #expect(duration.wholeNanoseconds == nanoseconds)
    }

    @Test(arguments: [0, 0.001, 2.5, 9.223372036, 9.223372037, 86_400, -9.25, -0.5])
    func `A duration is converted to seconds`(seconds: Double) {
        let told = Duration.nanoseconds(Int64((seconds * 1e9).rounded())).inSeconds
        #expect(abs(told - seconds) <= abs(seconds) * 1e-15, "\(told)")
    }
}
