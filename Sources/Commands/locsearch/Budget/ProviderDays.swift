import Basics
import Foundation
import LocationSearch
import QuotaSharing

/// The days by which the providers' budgets are counted: from midnight to midnight in each provider's time zone.
struct ProviderDays: Sendable {
    /// A day in wall-clock time.
    struct Day: Sendable, Hashable {
        /// The date, such as `2026-11-23`.
        var label: String
        var begin: Date
        var end: Date
    }

    private let zones: [ProviderID: TimeZone]

    init(_ zones: [ProviderID: TimeZone]) { self.zones = zones }

    /// Returns the current day of each provider.
    /// - Parameters:
    ///   - date: the current wall-clock time.
    ///   - now: the same moment on the monotonic clock used for deadlines.
    func days(at date: Date, now: Instant) -> [ProviderID: BudgetDay] {
        zones.keys.reduce(into: [:]) { days, provider in
            guard let day = day(of: provider, at: date) else { return }
            days[provider] = BudgetDay(
                label: day.label, end: now + .seconds(saturating: day.end.timeIntervalSince(date)))
        }
    }

    /// Returns the day of one provider; `nil` for a provider without a time zone.
    func day(of provider: ProviderID, at date: Date) -> Day? {
        zones[provider].map { Self.day(at: date, in: $0) }
    }

    /// Returns the day that contains a moment in a time zone.
    static func day(at date: Date, in zone: TimeZone) -> Day {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let begin = calendar.startOfDay(for: date)
        // A day has 23 or 25 hours when daylight saving time begins or ends.
        let end = calendar.dateInterval(of: .day, for: date)?.end ?? begin + 86_400
        let label = date.formatted(Date.ISO8601FormatStyle(timeZone: zone).year().month().day())
        return Day(label: label, begin: begin, end: end)
    }
}

extension Date {
    /// Converts a wall-clock time.
    init(_ time: WallTime) { self.init(timeIntervalSince1970: Double(time.milliseconds) / 1000) }
}
