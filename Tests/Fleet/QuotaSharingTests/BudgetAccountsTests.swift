import Basics
import LocationSearch
import TestSupport
import Testing

@testable import QuotaSharing

/// The accounts of a member, and the operators' orders about them.
struct BudgetAccountsTests {
    private static let start = Instant.now
    private static let period = "2026-11-23"

    private static func entry(_ account: String = "hotpepper", take: Int = 1, period: String = period)
        -> BudgetMessage.Entry
    {
        BudgetMessage.Entry(account, period: period, limit: 100, take: take, made: ["search": take])
    }

    /// Returns a member that has read an empty topic.
    private static func member() -> BudgetMember {
        let member = BudgetMember(name: "m-0", calls: 100, at: start)
        member.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: start)
        setDay(period, of: member)
        return member
    }

    private static func setDay(_ label: String, of member: BudgetMember) {
        member.account("hotpepper")?.reservation.begin(BudgetPeriod(label: label, end: start + .seconds(86_400)))
    }

    /// Lets a member read messages, as from a topic.
    private static func read(_ messages: [BudgetMessage], from first: Int64 = 0, by member: BudgetMember) {
        for (index, message) in messages.enumerated() {
            member.read(message, at: first + Int64(index), now: start)
        }
    }

    private static func order(_ limit: Int, period: String = period) -> BudgetMessage {
        BudgetMessage(
            sender: "person \(period)", number: 1,
            order: BudgetMessage.Order("hotpepper", period: period, limit: limit, time: "t"))
    }

    /// Lets a member request a call, and read its own message.
    private static func ask(_ member: BudgetMember, at offset: Int64) throws -> BudgetAccount.Permit? {
        member.accounts[0].setWaiting(1)
        let message = try #require(member.tick(at: start + .seconds(1)))
        member.read(message, at: offset, now: start + .seconds(1))
        return member.accounts[0].take(at: start + .seconds(1))
    }

    // MARK: - Several accounts

    @Test func `Each account has a budget of its own`() {
        var ledger = BudgetLedger()
        for (offset, account) in ["hotpepper", "q"].enumerated() {
            let message = BudgetMessage(sender: account, number: 1, entries: [Self.entry(account, take: 100)])
            #expect(ledger.apply(message, at: Int64(offset))?.granted == [100])
        }
        ledger.apply(Self.order(120), at: 2)
        #expect(ledger.left(of: "hotpepper", on: Self.period, limit: 100) == 20)
        #expect(ledger.left(of: "q", on: Self.period, limit: 100) == 0)
    }

    @Test func `An account beyond the maximum gets no calls`() {
        let member = Self.member()
        Self.read(
            (0..<256).map { BudgetMessage(sender: "\($0)", number: 1, entries: [Self.entry("a\($0)")]) }, by: member)
        #expect(member.ledger.periods.count == 256)
        #expect(member.accounts[0].isUsedUp(at: Self.start))
        let message = BudgetMessage(sender: "last", number: 1, entries: [Self.entry()])
        Self.read([message], from: 300, by: member)
        #expect(member.ledger.periods.count == 256)
    }

    // MARK: - Orders

    /// The emergency stop.
    @Test func `Calls that were reserved before a budget of zero are not made`() throws {
        let member = Self.member()
        #expect(try Self.ask(member, at: 0) != nil)
        #expect(member.accounts[0].reservation.held > 0)
        Self.read([Self.order(0)], from: 1, by: member)
        #expect(member.accounts[0].take(at: Self.start + .seconds(1)) == nil)
    }

    @Test func `An order for another period is not acknowledged`() {
        for (period, isAcknowledged) in [(Self.period, true), ("2026-11-22", false)] {
            let member = Self.member()
            Self.read([Self.order(0, period: period)], by: member)
            #expect((member.tick(at: Self.start + .seconds(1))?.answers != nil) == isAcknowledged)
        }
    }

    // MARK: - Forged messages

    /// Every writer of the topic can use a member's name and number.
    @Test func `A forged record with a member's name has no effect`() throws {
        let member = Self.member()
        member.accounts[0].setWaiting(1)
        let message = try #require(member.tick(at: Self.start))
        #expect(!message.entries.isEmpty)
        Self.read([BudgetMessage(sender: message.sender, number: message.number)], by: member)
        #expect(member.accounts[0].take(at: Self.start) == nil)
        #expect(try Self.ask(member, at: 1) != nil, "it asks again")
    }

    @Test func `Forged totals are added without overflow`() {
        var status = BudgetStatus(Budget(.hotpepper, limit: 0), nil)
        status.made = ["search": .max, "photo": .max]
        #expect(status.used == .max)
    }
}
