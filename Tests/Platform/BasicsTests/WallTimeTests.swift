import Basics
import Testing

struct WallTimeTests {
    static let times: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (1, "1970-01-01T00:00:00.001Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_799_999, "2000-02-29T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ]
    @Test(arguments: times)
    func `A time is written as in RFC 3339 and read back`(time: (milliseconds: Int64, text: String)) {
        let value = WallTime(milliseconds: time.milliseconds)
        #expect(value.description == time.text)
        #expect(WallTime(rfc3339: Array(time.text.utf8)) == value)
    }

    @Test(arguments: [Int64.min, .max])
    func `A time out of range becomes the nearest in range`(milliseconds: Int64) {
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
    func `A text that is no time is refused`(text: String) {
        #expect(WallTime(rfc3339: Array(text.utf8)) == nil)
    }

    // MARK: - Dates of HTTP

    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Sat, 21 Nov 2026 00:00:00 GMT", 1_795_219_200),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 CET", nil),
            ("Sun, 32 Nov 1994 08:49:37 GMT", nil), ("Wed, 31 Feb 2024 00:00:00 GMT", nil),
            ("Sun, 06 Nov 1994 24:49:37 GMT", nil), ("6 Nov 1994", nil), ("", nil),
        ] as [(String, Int64?)])
    func `A valid date is read, and others are refused`(text: String, seconds: Int64?) {
        #expect(HTTPDate.seconds(of: text) == seconds)
    }

    @Test(arguments: [0, 1, 784_111_777, 951_782_400, 1_795_219_200, 253_402_300_799] as [Int64])
    func `A written date is read back`(seconds: Int64) {
        #expect(HTTPDate.seconds(of: HTTPDate.text(seconds)) == seconds)
    }

    @Test func `A date is written as in the standard`() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(-1) == "Wed, 31 Dec 1969 23:59:59 GMT")
    }

    // MARK: - Days

    @Test func `Every day of four centuries is read back`() {
        var date = CivilDate(daysSinceEpoch: -1)
        var wrong: [Int64] = []
        for day in Int64(0)..<146_097 {
            let next = CivilDate(daysSinceEpoch: day)
            let follows =
                (next.year, next.month, next.day) == (date.year, date.month, date.day + 1)
                || (next.year, next.month, next.day) == (date.year, date.month + 1, 1)
                || (next.year, next.month, next.day) == (date.year + 1, 1, 1)
            let exists = CivilDate(year: next.year, month: next.month, day: next.day) == next
            if !follows || !exists || next.daysSinceEpoch != day { wrong.append(day) }
            date = next
        }
        #expect(wrong.isEmpty)
        #expect((date.year, date.month, date.day) == (2369, 12, 31))
    }

    @Test(arguments: [(2023, 2, 29), (2100, 2, 29), (2024, 13, 1), (2024, 0, 1), (2024, 4, 31), (2024, 1, 0)])
    func `A day that does not exist is refused`(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }
}
