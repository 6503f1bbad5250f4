import EventContract
import LocationSearch
import Testing

@testable import locsearch

/// The selection of dead letters to send back.
struct RedrivePlanTests {
    private func letter(_ offset: Int64, reason: String?) -> DeadLetterSummary {
        let record = IncomingRecord(
            source: SourcePosition(topic: "requests", partition: 0, offset: offset), value: Array("{}".utf8))
        let error = SearchError(.internal, "made to crash", allowsAttempt: false)
        return DeadLetterSummary(
            DeadLetter(record, error: error, reason: reason, at: WallTime(milliseconds: 1)),
            at: RedriveMark(partition: 0, offset: offset))
    }

    @Test func `Records that crash workers are redriven only with force`() {
        let letters = [letter(0, reason: nil), letter(1, reason: DeadLetter.crashedWorkers)]
        let plan = RedrivePlan(letters, limit: nil)
        #expect(plan.chosen.map(\.mark.offset) == [0])
        #expect(plan.crashing == 1)

        let forced = RedrivePlan(letters, limit: nil, isForced: true)
        #expect(forced.chosen.map(\.mark.offset) == [0, 1])
        #expect(forced.crashing == 0)
    }
}
