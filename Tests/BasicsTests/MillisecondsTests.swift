import Basics
import Testing

struct MillisecondsTests {
    static let durations: [(Duration, down: Int, up: Int)] = [
        (.zero, 0, 0), (.milliseconds(7), 7, 7), (.microseconds(7001), 7, 8), (.nanoseconds(1), 0, 1),
        (.seconds(3) + .nanoseconds(999_999_999), 3999, 4000), (.milliseconds(-7), -7, -7),
        (.microseconds(-7001), -7, -7), (.seconds(Int64.max), .max, .max), (.seconds(Int64.min), .min, .min),
        (.seconds(9_223_372_036_854_775) + .milliseconds(807), .max, .max),
        (.seconds(9_223_372_036_854_775) + .milliseconds(999), .max, .max),
    ]
    @Test(arguments: durations)
    func durationIsRoundedToWholeMillisecondsWithoutOverflow(duration: Duration, down: Int, up: Int) {
        #expect(duration.milliseconds(roundedUp: false) == down)
        #expect(duration.milliseconds(roundedUp: true) == up)
    }
}
