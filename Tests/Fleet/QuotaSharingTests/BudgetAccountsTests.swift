import Basics
import TestSupport
import Testing

@testable import QuotaSharing

/// The accounts that a member keeps of a topic shared by many fleets and keys, and their end.
struct BudgetAccountsTests {
    private static let start = Instant.now
    private static let day = "2026-11-23"

    private static func scope(_ key: String = "k", fleet: String = "f") -> QuotaScope {
        QuotaScope(provider: "p", fleet: fleet, key: key)
    }

    private static func entry(_ scope: QuotaScope, take: Int = 1, day: String = day) -> BudgetMessage.Entry {
        BudgetMessage.Entry(scope, day: day, limit: 100, take: take, made: ["search": take])
    }

    /// Returns a member of the fleet `f` that has read an empty topic.
    private static func member(_ name: String = "m-0", key: String = "k") -> BudgetMember {
        let member = BudgetMember(name: name, budgets: ["p": 100], scopes: ["p": scope(key)], at: start)
        member.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: start)
        setDay(day, of: member)
        return member
    }

    private static func setDay(_ label: String, of member: BudgetMember) {
        member.account(of: "p")?.reservation.begin(BudgetDay(label: label, end: start + .seconds(86_400)))
    }

    /// Lets a member read messages, as from a topic.
    private static func read(_ messages: [BudgetMessage], from first: Int64 = 0, by member: BudgetMember) {
        for (index, message) in messages.enumerated() {
            member.read(message, at: first + Int64(index), now: start)
        }
    }

    private static func order(_ limit: Int, day: String = day, fleet: String = "f") -> BudgetMessage {
        let order = BudgetMessage.Order(provider: "p", fleet: fleet, day: day, limit: limit, time: "t")
        return BudgetMessage(sender: "person \(fleet) \(day)", number: 1, order: order)
    }

    /// Lets a member request a call, and read its own message.
    private static func ask(_ member: BudgetMember, at offset: Int64) throws -> Int? {
        member.accounts[0].setWaiting(1)
        let message = try #require(member.tick(at: start + .seconds(1)))
        member.read(message, at: offset, now: start + .seconds(1))
        return member.accounts[0].tryTake(at: start + .seconds(1))
    }

    /// The messages of a thousand groups, each with a reservation, an operator's order, a replaced key and a snapshot.
    private static let thousandGroups: [BudgetMessage] = (0..<1000).flatMap { number -> [BudgetMessage] in
        let fleet = "group \(number)"
        var ledger = BudgetLedger()
        ledger.apply(BudgetMessage(sender: fleet, number: 1, entries: [entry(scope(fleet: fleet))]), at: 0)
        let renewal = BudgetMessage.Renewal(provider: "p", fleet: fleet, old: "k", new: "l")
        return [
            BudgetMessage(sender: fleet, number: 1, entries: [entry(scope(fleet: fleet))]),
            order(0, fleet: fleet),
            BudgetMessage(sender: fleet, number: 2, renewals: [renewal]),
            BudgetMessage(
                sender: fleet, number: 3,
                snapshot: BudgetMessage.Snapshot(offset: Int64(number * 4) - 1, fleet: fleet, ledger: ledger)),
        ]
    }

    // MARK: - Other fleets

    @Test func `A new fleet has its calls and orders after a thousand other groups`() throws {
        let member = Self.member()
        Self.read(Self.thousandGroups, by: member)
        #expect(member.ledger == BudgetLedger(), "nothing is kept of other fleets")
        #expect(try Self.ask(member, at: 5000) != nil)

        Self.read([Self.order(0)], from: 5001, by: member)
        #expect(!member.accounts[0].hasAnyLeft)
        #expect(member.ledger.left(of: Self.scope(), on: Self.day, limit: 100) == 0)
        #expect(member.tick(at: Self.start + .seconds(2))?.answers == "person f \(Self.day)")
    }

    /// `make scale` measures larger numbers. These bounds are ten times the measured values.
    @Test func `A message of another group takes little time and no memory`() throws {
        let member = Self.member()
        let bytes = Self.thousandGroups.map { FleetCodec.bytes(of: .budget($0)) }
        let begin = ContinuousClock.now
        for (offset, bytes) in bytes.enumerated() {
            guard case .budget(let message) = FleetCodec.message(bytes) else { continue }
            member.read(message, at: Int64(offset), now: Self.start)
        }
        let time = (ContinuousClock.now - begin) / bytes.count
        print("measured: a message of another group takes \(time)")
        #expect(time < .milliseconds(RunningProgram.isSanitized ? 20 : 2))

        _ = try Self.ask(member, at: 5000)
        let state = BudgetMessage(
            sender: "m", number: 1, snapshot: BudgetMessage.Snapshot(offset: 1, fleet: "f", ledger: member.ledger))
        #expect(FleetCodec.bytes(of: .budget(state)).count < 600)
    }

    @Test func `The history continues only from a snapshot of the own fleet`() throws {
        func member(of fleet: String, reading messages: [BudgetMessage]) -> BudgetMember {
            let member = BudgetMember(
                name: "new-0", budgets: ["p": 100], scopes: ["p": Self.scope(fleet: fleet)], at: Self.start)
            member.begin(FleetTopicExtent(first: 10, end: 10 + Int64(messages.count), oldest: 0), at: Self.start)
            Self.read(messages, from: 10, by: member)
            return member
        }
        let known = Self.member()
        Self.read([BudgetMessage(sender: "a", number: 1, entries: [Self.entry(Self.scope(), take: 30)])], by: known)
        let state = try #require(known.tick(at: Self.start + .seconds(1000))?.snapshot)
        let written = BudgetMessage(
            sender: "b", number: 1, snapshot: BudgetMessage.Snapshot(offset: 9, fleet: "f", ledger: state.ledger))

        #expect(state.fleet == "f")
        #expect(member(of: "g", reading: [written]).needsOlderRecords)
        let own = member(of: "f", reading: Array(Self.thousandGroups.prefix(100)) + [written])
        #expect(own.isReady)
        #expect(own.ledger.left(of: Self.scope(), on: Self.day, limit: 100) == 70)
    }

    // MARK: - The end of an account

    private static func label(_ day: Int) -> String { "day \(1000 + day)" }

    @Test func `Accounts and replaced keys end with their days`() {
        let member = Self.member()
        for day in 0..<400 {
            // A worker is restarted with another key each day, and another one replaces its key while it runs.
            let renewal = BudgetMessage.Renewal(provider: "p", fleet: "f", old: "r\(day)", new: "r\(day + 1)")
            let entries = [Self.scope("k\(day)"), Self.scope("r\(day + 1)")].map {
                Self.entry($0, take: 10, day: Self.label(day))
            }
            let message = BudgetMessage(sender: "a", number: UInt64(day + 1), entries: entries, renewals: [renewal])
            Self.read([message], from: Int64(day), by: member)
            #expect(member.ledger.left(of: Self.scope("r\(day + 1)"), on: Self.label(day), limit: 100) == 90)
        }
        #expect(member.ledger.days.count == 5, "the keys of four days, and the account that goes on")
        #expect(member.ledger.renewed.count <= 5)
        #expect(member.ledger.days.values.allSatisfy { $0.count <= 4 })
        #expect(member.ledger.renewalOffsets.count == member.ledger.renewed.count)
    }

    @Test func `A wrong clock ends no day of other accounts`() {
        var ledger = BudgetLedger()
        for number in 0..<50 {
            let wrong = Self.entry(Self.scope("wrong \(number)"), day: "2099-01-\(number)")
            ledger.apply(
                BudgetMessage(sender: "wrong", number: UInt64(number + 1), entries: [wrong]), at: Int64(2 * number))
            let right = BudgetMessage(sender: "right", number: UInt64(number + 1), entries: [Self.entry(Self.scope())])
            ledger.apply(right, at: Int64(2 * number + 1))
        }
        #expect(ledger.left(of: Self.scope(), on: Self.day, limit: 100) == 50)
        #expect(ledger.days.count == 4)
    }

    // MARK: - Full table of accounts

    /// Returns a member whose key is one more than the table has room for.
    private static func memberWithoutRoom() -> BudgetMember {
        let member = Self.member(key: "one more")
        Self.read((0..<256).map { Self.message(of: "k\($0)") }, by: member)
        return member
    }

    private static func message(of key: String) -> BudgetMessage {
        BudgetMessage(sender: key, number: 1, entries: [entry(scope(key))])
    }

    @Test func `A key without an account gets no calls, which is reported once`() {
        let member = Self.memberWithoutRoom()
        member.accounts[0].setWaiting(1)
        for second in 1..<10 { _ = member.tick(at: Self.start + .seconds(second)) }
        #expect(member.takeWarnings() == ["p"])
        #expect(member.accounts[0].status.isFull)
        #expect(member.accounts[0].status.left == 0)
        #expect(member.accounts[0].isUsedUp(at: Self.start + .seconds(10)))
        #expect(member.ledger.days.count == 256)

        // A replacement key without an account is rejected as well: it must not start another budget.
        var ledger = member.ledger
        let renewal = BudgetMessage.Renewal(provider: "p", fleet: "f", old: "k1", new: "one more")
        ledger.apply(BudgetMessage(sender: "x", number: 1, renewals: [renewal]), at: 300)
        #expect(ledger.apply(Self.message(of: "one more"), at: 301)?.granted == [0])
    }

    @Test func `An order is applied although the table is full`() {
        let member = Self.memberWithoutRoom()
        Self.read([Self.order(0)], from: 300, by: member)
        #expect(member.ledger.left(of: Self.scope("k7"), on: Self.day, limit: 100) == 0)
    }

    @Test func `A key gets an account on the next day`() throws {
        let member = Self.memberWithoutRoom()
        Self.setDay("2026-11-24", of: member)
        #expect(!member.accounts[0].status.isFull)
        #expect(try Self.ask(member, at: 300) != nil)
        #expect(member.ledger.days.count == 1)
    }

    // MARK: - Orders

    /// The emergency stop.
    @Test func `Calls that were reserved before a budget of zero are not made`() throws {
        let member = Self.member()
        #expect(try Self.ask(member, at: 0) != nil)
        #expect(member.accounts[0].reservation.held > 0)
        Self.read([Self.order(0)], from: 1, by: member)
        #expect(member.accounts[0].tryTake(at: Self.start + .seconds(1)) == nil)
    }

    @Test func `An order for another day is not acknowledged`() {
        for (day, fleet, isAcknowledged) in [(Self.day, "f", true), ("2026-11-22", "f", false), (Self.day, "g", false)]
        {
            let member = Self.member()
            Self.read([Self.order(0, day: day, fleet: fleet)], by: member)
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
        #expect(member.accounts[0].tryTake(at: Self.start) == nil)
        #expect(try Self.ask(member, at: 1) != nil, "it asks again")
    }

    @Test func `Forged totals are summed without overflow`() {
        var status = BudgetStatus(nil)
        status.made = ["search": .max, "photo": .max]
        #expect(status.used == .max)
    }
}
