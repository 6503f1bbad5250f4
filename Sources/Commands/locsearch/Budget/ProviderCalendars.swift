import Basics
import Foundation
import LocationSearch
import QuotaSharing
import Synchronization

/// The days and months by which the providers' budgets are counted, each in its provider's time zone.
final class ProviderCalendars: Sendable {
    /// A day or month in wall-clock time.
    struct Period: Sendable, Hashable {
        /// The date or the month, such as `2026-11-23` or `2026-11`.
        var label: String
        var begin: Date
        var end: Date
    }

    private struct Key: Hashable {
        var provider: ProviderID
        var span: Budget.Span
    }

    private let zones: [ProviderID: TimeZone]
    /// The last period of each provider, because a member asks several times a second.
    private let last = Mutex<[Key: Period]>([:])

    init(_ zones: [ProviderID: TimeZone]) { self.zones = zones }

    /// Returns the current periods of each provider.
    /// - Parameters:
    ///   - date: the current wall-clock time.
    ///   - now: the same moment on the monotonic clock used for deadlines.
    func periods(at date: Date, now: Instant) -> [ProviderID: [Budget.Span: BudgetPeriod]] {
        zones.keys.reduce(into: [:]) { all, provider in
            all[provider] = Budget.Span.allCases.reduce(into: [:]) { periods, span in
                guard let period = period(span, of: provider, at: date) else { return }
                let timeLeft = Duration.seconds(saturating: period.end.timeIntervalSince(date))
                periods[span] = BudgetPeriod(label: period.label, end: now + timeLeft)
            }
        }
    }

    /// Returns the current day or month of one provider; `nil` for a provider without a time zone.
    func period(_ span: Budget.Span, of provider: ProviderID, at date: Date) -> Period? {
        guard let zone = zones[provider] else { return nil }
        let key = Key(provider: provider, span: span)
        return last.withLock { last in
            if let known = last[key], known.begin <= date, date < known.end { return known }
            let period = Self.period(span, at: date, in: zone)
            last[key] = period
            return period
        }
    }

    /// Returns the day or month that contains a moment in a time zone.
    static func period(_ span: Budget.Span, at date: Date, in zone: TimeZone) -> Period {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let style = Date.ISO8601FormatStyle(timeZone: zone).year().month()
        // A day has 23 or 25 hours when daylight saving time begins or ends.
        let interval = calendar.dateInterval(of: span == .day ? .day : .month, for: date)
        let begin = interval?.start ?? calendar.startOfDay(for: date)
        let label = date.formatted(span == .day ? style.day() : style)
        return Period(label: label, begin: begin, end: interval?.end ?? begin + 86_400)
    }
}

extension Date {
    /// Converts a wall-clock time.
    init(_ time: WallTime) { self.init(timeIntervalSince1970: Double(time.milliseconds) / 1000) }
}
