/// A day of the Gregorian calendar, carried back before its adoption, as RFC 3339 uses it.
///
/// Years begin in March here, so that the leap day is the last of its year, and 400 years (146,097 days) repeat.
struct CivilDate: Hashable {
    let year: Int64
    /// 1...12.
    let month: Int64
    /// 1...31.
    let day: Int64

    /// - Parameter daysSinceEpoch: from 1970-01-01; within the years that RFC 3339 can write.
    init(daysSinceEpoch: Int64) {
        // 0000-03-01 is 719,468 days before 1970-01-01.
        let (era, dayOfEra) = EventTime.floorDivide(daysSinceEpoch + 719_468, by: 146_097)
        // Leap days so far: one each 1,460 days, none each 36,524, but the last of the era.
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // From March on, five months have 153 days: 31, 30, 31, 30, 31, and so again.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// - Returns: `nil` when there is no such day.
    init?(year: Int64, month: Int64, day: Int64) {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), day >= 1, day <= lengths[Int(month) - 1] else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    var daysSinceEpoch: Int64 {
        let (era, yearOfEra) = EventTime.floorDivide(month <= 2 ? year - 1 : year, by: 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
