/// A day of the proleptic Gregorian calendar, as used by RFC 3339.
///
/// For the arithmetic, years begin in March, so that the leap day is the last day of its year. The calendar repeats
/// every 400 years (146,097 days).
@frozen public struct CivilDate: Sendable, Hashable {
    /// The year; year 0 precedes year 1.
    public let year: Int64
    /// The month, 1...12.
    public let month: Int64
    /// The day of the month, 1...31.
    public let day: Int64

    /// Makes a day from its number of days after 1970-01-01.
    /// - Parameter daysSinceEpoch: Negative before 1970; within 1e15 days of it.
    @inlinable
    public init(daysSinceEpoch: Int64) {
        // 0000-03-01 is 719,468 days before 1970-01-01.
        let (era, dayOfEra) = (daysSinceEpoch + 719_468).flooredQuotientAndRemainder(dividingBy: 146_097)

        // There is a leap day every 1,460 days, except every 36,524 days, but again at the end of the era.
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)

        // From March on, each five months have 153 days: 31, 30, 31, 30, 31.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Makes a day from its date; `nil` if the date does not exist.
    public init?(year: Int64, month: Int64, day: Int64) {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), day >= 1, day <= lengths[Int(month) - 1] else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The number of days from 1970-01-01 to this day; negative before it.
    public var daysSinceEpoch: Int64 {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooredQuotientAndRemainder(dividingBy: 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int64 {
    /// Divides with a remainder that is never negative: -1 by 400 is -1, remainder 399.
    /// - Parameter divisor: Greater than 0.
    @inlinable
    public func flooredQuotientAndRemainder(dividingBy divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
