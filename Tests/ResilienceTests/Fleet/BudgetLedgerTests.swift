import Foundation
import Testing

@testable import Resilience

/// What the records of the log do to a budget.
struct BudgetLedgerTests {
    private static func message(
        _ number: UInt64, from sender: String = "a", take: Int = 0, giveBack: Int = 0, made: Int = 0, limit: Int = 10,
        day: String = "2026-11-23"
    ) -> BudgetMessage {
        BudgetMessage(
            sender: sender, number: number,
            entries: [
                BudgetMessage.Entry(
                    provider: "p", day: day, limit: limit, take: take, giveBack: giveBack,
                    made: made > 0 ? ["search": made] : [:])
            ])
    }

    private static func order(_ number: UInt64, limit: Int? = nil, isReset: Bool = false) -> BudgetMessage {
        let order = BudgetMessage.Order(
            provider: "p", day: "2026-11-23", limit: limit, isReset: isReset, time: "2026-11-23T12:00:00Z")
        return BudgetMessage(sender: "person \(number)", number: 1, order: order)
    }

    @Test func reservationGetsWhatIsLeft() {
        var ledger = BudgetLedger()
        #expect(ledger.apply(Self.message(1, take: 7), at: 0)?.granted == [7])
        #expect(ledger.apply(Self.message(1, from: "b", take: 7), at: 1)?.granted == [3])
        #expect(ledger.apply(Self.message(2, take: 1), at: 2)?.granted == [0])
        #expect(ledger.apply(Self.message(3, giveBack: 2), at: 3)?.granted == [0])
        #expect(ledger.apply(Self.message(2, from: "b", take: 5), at: 4)?.granted == [2])
    }

    @Test func doubledAndOvertakenMessageDoesNothing() {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(2, take: 3), at: 0)
        #expect(ledger.apply(Self.message(2, take: 3), at: 1) == nil)
        #expect(ledger.apply(Self.message(1, take: 3), at: 2) == nil)
        #expect(ledger.days["p"]?["2026-11-23"]?.taken == 3)
    }

    @Test func eachMemberGoesByTheBudgetOfItsSettings() {
        var ledger = BudgetLedger()
        #expect(ledger.apply(Self.message(1, take: 20, limit: 10), at: 0)?.granted == [10])
        #expect(ledger.apply(Self.message(1, from: "new", take: 20, limit: 15), at: 1)?.granted == [5])
        #expect(ledger.apply(Self.message(2, take: 1, limit: 10), at: 2)?.granted == [0])
        #expect(ledger.days["p"]?["2026-11-23"]?.budget == 10)
    }

    @Test func orderedBudgetCountsForAllUntilTheDayEnds() {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: 10), at: 0)
        ledger.apply(Self.order(1, limit: 12), at: 1)
        #expect(ledger.apply(Self.message(2, take: 9), at: 2)?.granted == [2])
        #expect(ledger.apply(Self.message(3, take: 99, day: "2026-11-24"), at: 3)?.granted == [10])
    }

    @Test func resetKeepsWhatIsReservedAndNotMade() throws {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: 9, made: 6), at: 0)
        ledger.apply(Self.order(1, isReset: true), at: 1)

        let day = try #require(ledger.days["p"]?["2026-11-23"])
        #expect((day.used, day.reserved, day.left) == (0, 3, 7))
        #expect(day.since == "2026-11-23T12:00:00Z")
    }

    @Test func fourFifthsAreNoticedOnce() {
        var ledger = BudgetLedger()
        #expect(ledger.apply(Self.message(1, take: 7), at: 0)?.warned == [])
        #expect(ledger.apply(Self.message(2, take: 1), at: 1)?.warned == ["p"])
        #expect(ledger.apply(Self.message(3, take: 1, giveBack: 2), at: 2)?.warned == [])
        #expect(ledger.apply(Self.message(4, take: 2), at: 3)?.warned == [])
    }

    @Test func clockThatIsWrongByYearsDoesNotPushThePresentDayOut() {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: 4), at: 0)
        ledger.apply(Self.message(1, from: "wrong", take: 4, day: "2099-01-01"), at: 1)
        ledger.apply(Self.message(2, from: "wrong", take: 4, day: "1970-01-01"), at: 2)
        #expect(ledger.left(of: "p", on: "2026-11-23", limit: 10) == 6)
    }

    @Test(arguments: [Int.min, -1, Int.max])
    func hostileNumbersDoNotOverflow(number: Int) {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: number, giveBack: number, limit: number), at: 0)
        ledger.apply(Self.message(2, take: number, giveBack: number, limit: number), at: 1)
        #expect(ledger.days["p"]?["2026-11-23"]?.taken ?? -1 >= 0)
    }

    @Test func stateIsTheSameAfterItWasWrittenAndRead() throws {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: 4, made: 2), at: 0)
        ledger.apply(Self.order(1, limit: 5, isReset: true), at: 1)
        let message = BudgetMessage(
            sender: "a", number: 2, base: BudgetMessage.Base(offset: 1, ledger: ledger))
        let read = try JSONDecoder().decode(BudgetMessage.self, from: JSONEncoder().encode(message))
        #expect(read == message)
    }
}
