import Testing

@testable import QuotaSharing

/// The effect of the log's records on a budget.
struct BudgetLedgerTests {
    private static func message(
        _ number: UInt64, from sender: String = "a", take: Int = 0, giveBack: Int = 0, made: Int = 0, limit: Int = 10,
        period: String = "2026-11-23"
    ) -> BudgetMessage {
        BudgetMessage(
            sender: sender, number: number,
            entries: [
                BudgetMessage.Entry(
                    "hotpepper", period: period, limit: limit, take: take, giveBack: giveBack,
                    made: made > 0 ? ["search": made] : [:])
            ])
    }

    private static func order(_ number: UInt64, limit: Int? = nil, isReset: Bool = false) -> BudgetMessage {
        let order = BudgetMessage.Order(
            "hotpepper", period: "2026-11-23", limit: limit, isReset: isReset, time: "2026-11-23T12:00:00Z")
        return BudgetMessage(sender: "person \(number)", number: 1, order: order)
    }

    @Test func `A reservation gets the calls that are left`() {
        var ledger = BudgetLedger()
        #expect(ledger.apply(Self.message(1, take: 7), at: 0)?.granted == [7])
        #expect(ledger.apply(Self.message(1, from: "b", take: 7), at: 1)?.granted == [3])
        #expect(ledger.apply(Self.message(2, take: 1), at: 2)?.granted == [0])
        #expect(ledger.apply(Self.message(3, giveBack: 2), at: 3)?.granted == [0])
        #expect(ledger.apply(Self.message(2, from: "b", take: 5), at: 4)?.granted == [2])
    }

    @Test func `A duplicated or late message has no effect`() {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(2, take: 3), at: 0)
        #expect(ledger.apply(Self.message(2, take: 3), at: 1) == nil)
        #expect(ledger.apply(Self.message(1, take: 3), at: 2) == nil)
        #expect(ledger.periods["hotpepper"]?["2026-11-23"]?.taken == 3)
    }

    @Test func `Each member uses the budget of its settings`() {
        var ledger = BudgetLedger()
        #expect(ledger.apply(Self.message(1, take: 20, limit: 10), at: 0)?.granted == [10])
        #expect(ledger.apply(Self.message(1, from: "new", take: 20, limit: 15), at: 1)?.granted == [5])
        #expect(ledger.apply(Self.message(2, take: 1, limit: 10), at: 2)?.granted == [0])
        #expect(ledger.periods["hotpepper"]?["2026-11-23"]?.budget == 10)
    }

    @Test func `An ordered budget applies to all until the period ends`() {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: 10), at: 0)
        ledger.apply(Self.order(1, limit: 12), at: 1)
        #expect(ledger.apply(Self.message(2, take: 9), at: 2)?.granted == [2])
        #expect(ledger.apply(Self.message(3, take: 99, period: "2026-11-24"), at: 3)?.granted == [10])
    }

    @Test func `A reset keeps calls that are reserved and not made`() throws {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: 9, made: 6), at: 0)
        ledger.apply(Self.order(1, isReset: true), at: 1)

        let period = try #require(ledger.periods["hotpepper"]?["2026-11-23"])
        #expect((period.used, period.reserved, period.left) == (0, 3, 7))
        #expect(period.since == "2026-11-23T12:00:00Z")
    }

    @Test func `The warning at four fifths comes once`() {
        var ledger = BudgetLedger()
        #expect(ledger.apply(Self.message(1, take: 7), at: 0)?.warned == [])
        #expect(ledger.apply(Self.message(2, take: 1), at: 1)?.warned == ["hotpepper"])
        #expect(ledger.apply(Self.message(3, take: 1, giveBack: 2), at: 2)?.warned == [])
        #expect(ledger.apply(Self.message(4, take: 2), at: 3)?.warned == [])
    }

    @Test func `A clock that is wrong by years does not remove the present period`() {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: 4), at: 0)
        ledger.apply(Self.message(1, from: "wrong", take: 4, period: "2099-01-01"), at: 1)
        ledger.apply(Self.message(2, from: "wrong", take: 4, period: "1970-01-01"), at: 2)
        #expect(ledger.left(of: "hotpepper", on: "2026-11-23", limit: 10) == 6)
    }

    @Test(arguments: [Int.min, -1, Int.max])
    func `Hostile numbers do not overflow`(number: Int) {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: number, giveBack: number, limit: number), at: 0)
        ledger.apply(Self.message(2, take: number, giveBack: number, limit: number), at: 1)
        #expect(ledger.periods["hotpepper"]?["2026-11-23"]?.taken ?? -1 >= 0)
    }

    @Test func `A state is the same after it was written and read`() {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: 4, made: 2), at: 0)
        ledger.apply(Self.order(1, limit: 5, isReset: true), at: 1)
        let message = BudgetMessage(
            sender: "a", number: 2, snapshot: BudgetMessage.Snapshot(offset: 1, ledger: ledger))
        let codec = FleetCodec(fleet: "f")
        #expect(codec.message(codec.bytes(of: .budget(message))) == .budget(message))
    }

    @Test func `A reset of a period without calls does not hide its warning`() {
        var ledger = BudgetLedger()
        ledger.apply(Self.order(1, isReset: true), at: 0)
        #expect(ledger.apply(Self.message(1, take: 8), at: 1)?.warned == ["hotpepper"])
    }

    /// A member whose clock jumps names more periods than are kept.
    @Test func `A period in use stays whatever other periods are named`() {
        var ledger = BudgetLedger()
        ledger.apply(Self.message(1, take: 4), at: 0)
        for period in 10..<30 {
            let number = UInt64(period)
            ledger.apply(
                Self.message(number, from: "wrong", take: 1, period: "2027-01-\(period)"), at: Int64(period * 2))
            ledger.apply(Self.message(number, made: 1), at: Int64(period * 2 + 1))
        }
        #expect(ledger.periods["hotpepper"]?.count == 4)
        #expect(ledger.left(of: "hotpepper", on: "2026-11-23", limit: 10) == 6)
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807", "-1"])
    func `A state with any numbers is read and used`(number: String) {
        let period = """
            {"taken":\(number),"made":{"search":\(number),"photo":\(number)},"limit":\(number),"isWarned":false,\
            "touched":\(number),"warning":\(number)}
            """
        let text = """
            {"periods":{"hotpepper":{"2026-11-23":\(period)}},"heard":{"a":{"number":7,"offset":\(number)}},\
            "cleaned":\(number)}
            """
        let message =
            #"{"fleet":"f","budget":{"sender":"b","number":1,"entries":[],"state":{"offset":0,"ledger":\#(text)}}}"#
        guard case .budget(let budget) = FleetCodec(fleet: "f").message(Array(message.utf8)),
            var ledger = budget.snapshot?.ledger
        else {
            return #expect(Bool(false), "the state is not read")
        }
        ledger.apply(Self.message(8, take: 1, giveBack: 1, made: 1), at: 1)
        ledger.apply(Self.order(1, limit: 5, isReset: true), at: 2)
        #expect(ledger.periods["hotpepper"]?["2026-11-23"]?.left ?? -1 >= 0)
    }
}
