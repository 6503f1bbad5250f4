import Basics
import Testing

struct CivilDateTests {
    @Test func `Every day of four centuries comes back`() {
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
    func `Day that does not exist is none`(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }
}
