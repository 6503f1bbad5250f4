import Testing

import Basics

struct WallTimeTests {
    static let times: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (1, "1970-01-01T00:00:00.001Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_799_999, "2000-02-29T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ]
    @Test(arguments: times)
    func `Time is written as RFC3339 and read back`(time: (milliseconds: Int64, text: String)) {
        let value = WallTime(milliseconds: time.milliseconds)
        #expect(value.description == time.text)
        #expect(WallTime(rfc3339: Array(time.text.utf8)) == value)
    }

    @Test(arguments: [Int64.min, .max])
    func `Time out of range becomes the nearest inside`(milliseconds: Int64) {
        #expect(WallTime(milliseconds: milliseconds).description.count == 24)
    }

    static let same: [(String, String)] = [
        ("2026-11-21T09:30:00Z", "2026-11-21T09:30:00.000Z"), ("2026-11-21t09:30:00z", "2026-11-21T09:30:00.000Z"),
        ("2026-11-21 09:30:00.1Z", "2026-11-21T09:30:00.100Z"),
        ("2026-11-21T18:30:00.123456789+09:00", "2026-11-21T09:30:00.123Z"),
        ("2026-11-20T23:45:00-09:45", "2026-11-21T09:30:00.000Z"), ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
        ("2026-11-21T09:30:00-00:00", "2026-11-21T09:30:00.000Z"),
    ]
    @Test(arguments: same)
    func `Other spellings are the same time`(texts: (given: String, written: String)) {
        #expect(WallTime(rfc3339: Array(texts.given.utf8))?.description == texts.written)
    }

    @Test(arguments: [
        "", "now", "2026-11-21", "2026-11-21T09:30:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0900", "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00Zx", "0000-12-31T00:00:00Z", "0001-01-01T00:00:00+00:01", "２０26-01-01T00:00:00Z",
        "2026-01-01T00:00:00." + String(repeating: "1", count: 10_000) + "Z",
    ])
    func `Text that is no time is refused`(text: String) {
        #expect(WallTime(rfc3339: Array(text.utf8)) == nil)
    }
}
