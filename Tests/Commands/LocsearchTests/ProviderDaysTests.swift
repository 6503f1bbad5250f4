import Basics
import Foundation
import LocationSearch
import QuotaSharing
import Resilience
import Testing

@testable import locsearch

/// The beginning of a provider's day.
struct ProviderDaysTests {
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

    @Test(arguments: days)
    func `A day lasts from midnight to midnight in its time zone`(
        day: (zone: String, moment: String, label: String, begin: String, end: String)
    ) throws {
        let zone = try #require(TimeZone(identifier: day.zone))
        let found = ProviderDays.day(at: try Self.date(day.moment), in: zone)
        #expect(found.label == day.label)
        #expect(found.begin == (try Self.date(day.begin)))
        #expect(found.end == (try Self.date(day.end)))
    }

    @Test func `A day that has ended is not cached`() throws {
        let days = ProviderDays([.hotpepper: try #require(TimeZone(identifier: "Asia/Tokyo"))])
        let moment = try Self.date("2026-11-23T14:59:59Z")
        #expect(days.day(of: .hotpepper, at: moment)?.label == "2026-11-23")
        #expect(days.day(of: .hotpepper, at: moment + 1)?.label == "2026-11-24")
        #expect(days.day(of: .hotpepper, at: moment)?.label == "2026-11-23", "clocks are set back too")
        #expect(days.day(of: .googlePlaces, at: moment) == nil)
    }

    @Test func `The end of a day is an instant of the clock of deadlines`() throws {
        let days = ProviderDays([.hotpepper: try #require(TimeZone(identifier: "Asia/Tokyo"))])
        let now = Instant.now
        let day = days.days(at: try Self.date("2026-11-23T14:59:00Z"), now: now)[.hotpepper]
        #expect(day?.end == now + .seconds(60))
    }
}
