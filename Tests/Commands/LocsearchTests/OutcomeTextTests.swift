import EventContract
import LocationSearch
import Testing

@testable import locsearch

/// Outcomes as text, whose records may contain any number, and durations.
struct OutcomeTextTests {
    @Test(
        arguments: [
            (0, 0, "0"), (1234.5, 0, "1235"), (4.1, 1, "4.1"), (4.05, 1, "4.1"), (0.04, 1, "0.0"), (12, 2, "12.00"),
            (-0.5, 1, "-0.5"), (-3.25, 2, "-3.25"), (999.96, 1, "1000.0"), (1e300, 0, "1e+300"), (-1e300, 1, "-1e+300"),
            (.infinity, 0, "inf"), (.nan, 1, "nan"), (0x1p63, 3, "9.223372036854776e+18"),
            (5, -1, "5"), (5, 99, "5.000"),
        ] as [(Double, Int, String)])
    func `A number of any size has a text`(number: Double, places: Int, expected: String) {
        #expect(OutcomeText.decimal(number, places: places) == expected)
    }

    private static let numbers = [
        "0", "-1", "1e300", "-1e300", "9223372036854775807", "-9223372036854775808", "1e-300", "0.5",
        "99999999999999999999",
    ]

    /// The output of `search` and `watch` for an outcome that another program wrote to the topic.
    @Test(arguments: numbers)
    func `An outcome with any number is shown`(number: String) throws {
        let timing =
            #""timing":{"receivedAt":"9999-12-31T23:59:59.999Z","completedAt":"0001-01-01T00:00:00.000Z","upstreamMs":\#(number),"attempts":\#(number)}"#
        let place =
            #"{"id":"x","provider":"hotpepper","name":"n","location":{"latitude":\#(number),"longitude":\#(number)},"distanceMeters":\#(number),"rating":\#(number),"ratingCount":\#(number),"priceLevel":\#(number)}"#
        let search =
            #""search":{"category":"c","location":{"latitude":1,"longitude":1},"radiusMeters":\#(number)},"totalAvailable":\#(number)"#
        let error =
            #""error":{"code":"timeout","message":"m","retryable":true,"retryAfterMs":\#(number),"httpStatus":\#(number)}"#

        for members in [#""places":[\#(place)],\#(search)"#, error] {
            let value = Array(#"{"requestId":"r","operation":"search",\#(members),\#(timing)}"#.utf8)
            let event = try OutcomeReader().read(value: value, headers: [])
            #expect(!OutcomeText.full(event, asked: SearchRequest(requestID: "r")).isEmpty)
            #expect(!OutcomeText.summary(event).isEmpty)
            #expect(OutcomeText.milliseconds(event).hasPrefix("-"))
        }
    }

    /// Other programs may write any outcome to the topic.
    @Test func `No text of an outcome controls the terminal`() throws {
        let result = ##""places":[],"provider":"a\u001b[2J""##
        let error = ##""error":{"code":"b\u001b[2J","message":"m","retryable":false}"##
        for members in [result, error] {
            let value = Array(##"{"requestId":"r","operation":"c\u001b[2J",\##(members)}"##.utf8)
            let text = OutcomeText.full(
                try OutcomeReader().read(value: value, headers: []), asked: SearchRequest(requestID: "r"))
            #expect(!text.contains("\u{1b}") && text.contains("[2J"), "\(text)")
        }
    }

    // MARK: - Durations

    @Test(arguments: [
        (Duration.zero, "0ms"), (.milliseconds(250), "250ms"), (.milliseconds(999), "999ms"),
        (.milliseconds(1000), "1s"), (.milliseconds(2460), "2.5s"), (.milliseconds(9960), "10s"),
        (.milliseconds(41_499), "41s"), (.milliseconds(59_999), "1m"), (.seconds(125), "2m 5s"),
        (.seconds(600), "10m"), (.seconds(3600), "1h"), (.milliseconds(22_491_234), "6h 15m"),
        (.seconds(86_399), "24h"), (.seconds(86_400), "1d"), (.seconds(100 * 3600), "4d 4h"),
        (.seconds(-5), "0ms"),
    ])
    func `Durations are readable`(duration: Duration, text: String) {
        #expect(duration.readable == text)
    }

    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("5s", .seconds(5)), ("1.5s", .milliseconds(1500)),
        ("2m", .seconds(120)),
        ("1h", .seconds(3600)), ("0ms", .zero),
    ])
    func `Durations are read from their texts`(text: String, duration: Duration) {
        #expect(Duration(text: text) == duration)
        #expect(Duration(text: duration.text) == duration)
    }

    @Test func `Every decimal fraction of a whole number of milliseconds is read`() {
        for milliseconds in 0..<70_000 {
            let text = "\(milliseconds / 1000).\(String(milliseconds % 1000 + 1000).dropFirst())s"
            #expect(Duration(text: text) == .milliseconds(milliseconds), "\(text)")
        }
        #expect(Duration(text: "1.1h") == .seconds(3960))
        for text in ["1.0005s", "0.1ms", "0.0000001h", "1e300s", "281474976710657h"] {
            #expect(Duration(text: text) == nil, "\(text)")
        }
    }
}
