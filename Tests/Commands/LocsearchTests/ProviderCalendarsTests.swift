import Basics
import Foundation
import LocationSearch
import QuotaSharing
import Resilience
import Testing

@testable import locsearch

/// The beginning of a provider's days and months.
struct ProviderCalendarsTests {
    private static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    static let days: [(zone: String, moment: String, label: String, begin: String, end: String)] = [
        ("America/Los_Angeles", "2026-11-23T07:59:59Z", "2026-11-22", "2026-11-22T08:00:00Z", "2026-11-23T08:00:00Z"),
        ("America/Los_Angeles", "2026-11-23T08:00:00Z", "2026-11-23", "2026-11-23T08:00:00Z", "2026-11-24T08:00:00Z"),
        // Daylight saving time begins, and ends.
        ("America/Los_Angeles", "2026-03-08T20:00:00Z", "2026-03-08", "2026-03-08T08:00:00Z", "2026-03-09T07:00:00Z"),
        ("America/Los_Angeles", "2026-11-01T20:00:00Z", "2026-11-01", "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z"),
        ("Asia/Tokyo", "2026-11-23T14:59:59Z", "2026-11-23", "2026-11-22T15:00:00Z", "2026-11-23T15:00:00Z"),
        ("Asia/Tokyo", "2026-11-23T15:00:00Z", "2026-11-24", "2026-11-23T15:00:00Z", "2026-11-24T15:00:00Z"),
        ("UTC", "2027-01-01T00:00:00Z", "2027-01-01", "2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z"),
    ]

    static let months: [(zone: String, moment: String, label: String, begin: String, end: String)] = [
        ("America/Los_Angeles", "2026-12-01T07:59:59Z", "2026-11", "2026-11-01T07:00:00Z", "2026-12-01T08:00:00Z"),
        ("America/Los_Angeles", "2026-12-01T08:00:00Z", "2026-12", "2026-12-01T08:00:00Z", "2027-01-01T08:00:00Z"),
        ("America/Los_Angeles", "2028-02-29T20:00:00Z", "2028-02", "2028-02-01T08:00:00Z", "2028-03-01T08:00:00Z"),
        ("Asia/Tokyo", "2026-12-31T15:00:00Z", "2027-01", "2026-12-31T15:00:00Z", "2027-01-31T15:00:00Z"),
    ]

    @Test(arguments: days)
    func `A day lasts from midnight to midnight in its time zone`(
        day: (zone: String, moment: String, label: String, begin: String, end: String)
    ) throws {
        try Self.check(.day, day)
    }

    @Test(arguments: months)
    func `A month lasts from its first midnight to the next month's`(
        month: (zone: String, moment: String, label: String, begin: String, end: String)
    ) throws {
        try Self.check(.month, month)
    }

    private static func check(
        _ span: Budget.Span, _ expected: (zone: String, moment: String, label: String, begin: String, end: String)
    ) throws {
        let zone = try #require(TimeZone(identifier: expected.zone))
        let found = ProviderCalendars.period(span, at: try date(expected.moment), in: zone)
        #expect(found.label == expected.label)
        #expect(found.begin == (try date(expected.begin)))
        #expect(found.end == (try date(expected.end)))
    }

    @Test func `A day that has ended is not cached`() throws {
        let calendars = ProviderCalendars([.hotpepper: try #require(TimeZone(identifier: "Asia/Tokyo"))])
        let moment = try Self.date("2026-11-23T14:59:59Z")
        #expect(calendars.period(.day, of: .hotpepper, at: moment)?.label == "2026-11-23")
        #expect(calendars.period(.day, of: .hotpepper, at: moment + 1)?.label == "2026-11-24")
        #expect(calendars.period(.day, of: .hotpepper, at: moment)?.label == "2026-11-23", "clocks are set back too")
        #expect(calendars.period(.day, of: .googlePlaces, at: moment) == nil)
    }

    @Test func `The end of a day is an instant of the clock of deadlines`() throws {
        let calendars = ProviderCalendars([.hotpepper: try #require(TimeZone(identifier: "Asia/Tokyo"))])
        let now = Instant.now
        let periods = calendars.periods(at: try Self.date("2026-11-23T14:59:00Z"), now: now)[.hotpepper]
        #expect(periods?[.day]?.end == now + .seconds(60))
        #expect(periods?[.month]?.end == now + .seconds(60 + 7 * 86_400))
    }
}
