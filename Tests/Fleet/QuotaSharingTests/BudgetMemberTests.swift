import Basics
import LocationSearch
import TestSupport
import Testing

@testable import QuotaSharing

/// The messages of one member with daily budgets, and their times.
struct BudgetMemberTests {
    private static let start = Instant.now
    private static let period = BudgetPeriod(label: "2026-11-23", end: start + .seconds(86_400))

    /// Returns a member that has read an empty topic.
    private static func member(_ calls: Int, name: String = "m-0") -> BudgetMember {
        let member = BudgetMember(name: name, calls: calls, at: start)
        member.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: start)
        member.accounts[0].reservation.begin(period)
        return member
    }

    private static func memberOfThree() -> BudgetMember {
        let budgets = [
            Budget(.hotpepper, limit: 1000), Budget(.googlePlaces, limit: 1000), Budget(.googlePlacesLegacy, limit: 0),
        ]
        let member = BudgetMember(name: "m-0", budgets: budgets, at: start)
        member.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: start)
        for account in member.accounts { account.reservation.begin(period) }
        return member
    }

    /// Returns a member that has not read the topic up to `end`.
    private static func newcomer(_ budget: Int, end: Int64 = 1) -> BudgetMember {
        let member = BudgetMember(name: "new-0", calls: budget, at: start)
        member.begin(FleetTopicExtent(first: 0, end: end, oldest: 0), at: start)
        return member
    }

    /// A reservation by a worker that has ended.
    private static func spent(_ take: Int, of limit: Int, number: UInt64 = 1) -> BudgetMessage {
        let entry = BudgetMessage.Entry("hotpepper", period: period.label, limit: limit, take: take)
        return BudgetMessage(sender: "gone", number: number, entries: [entry])
    }

    private static func left(_ member: BudgetMember, of limit: Int) -> Int {
        member.ledger.left(of: "hotpepper", on: period.label, limit: limit)
    }

    private static func remade(end: Int64 = 0) -> FleetTopicExtent {
        FleetTopicExtent(first: 0, end: end, oldest: 0, isRemade: true)
    }

    @Test func `Idle and used-up providers do not delay others when the topic times out`() throws {
        let member = Self.memberOfThree()
        let busy = try #require(member.accounts.firstIndex { $0.name == "hotpepper" })
        member.accounts[busy].setWaiting(1)
        var now = Self.start
        let message = try #require(member.tick(at: now))
        member.read(message, at: 0, now: now)
        #expect(member.accounts[busy].take(at: now) != nil)
        member.accounts[busy].setWaiting(0)

        // The next reservation is not read back.
        while member.tick(at: now) == nil, now < Self.start + .seconds(20) {
            _ = member.accounts[busy].take(at: now)
            now += .milliseconds(100)
        }
        now += .seconds(4)
        while member.accounts[busy].take(at: now) != nil {}
        #expect(member.isTimedOut(at: now), "the one that is asked for lacks calls")

        member.read(BudgetMessage(sender: "other", number: 1), at: 1, now: now)
        let calm = Self.memberOfThree()
        calm.accounts[busy].setWaiting(1)
        let first = try #require(calm.tick(at: now))
        calm.read(first, at: 0, now: now)
        calm.accounts[busy].setWaiting(0)
        while calm.tick(at: now) == nil, now < Self.start + .seconds(40) {
            calm.accounts[busy].reservation.noteMade(1, as: "search", epoch: 1, at: now)
            now += .milliseconds(100)
        }
        #expect(!calm.isTimedOut(at: now + .seconds(4)), "calls are held, and nobody asks for the others")
    }

    @Test func `A member ticks no more often when the period is used up`() throws {
        let member = Self.member(8)
        var now = Self.start
        var offset: Int64 = 0
        member.accounts[0].setWaiting(8)
        while !member.accounts[0].isUsedUp(at: now), now < Self.start + .seconds(10) {
            if let message = member.tick(at: now) {
                member.read(message, at: offset, now: now)
                offset += 1
            }
            while member.accounts[0].take(at: now) != nil {}
            now += .milliseconds(100)
        }

        // Otherwise the rejected calls would still count as demand, at the previous pace.
        member.accounts[0].setWaiting(1)
        #expect(member.accounts[0].isUsedUp(at: now))
        #expect(member.nextTick(at: now) == BudgetTerms.tick)
    }

    @Test func `A topic that accepts no record costs no memory`() {
        let member = Self.member(1000)
        var numbers: Set<UInt64> = []
        for second in 0..<3600 {
            member.accounts[0].setWaiting(1)
            if let message = member.tick(at: Self.start + .seconds(second)) { numbers.insert(message.number) }
        }
        #expect(numbers.count == 8)
    }

    @Test func `Only members with the budget answer a question`() throws {
        for (question, isAnswered) in [("hotpepper", true), ("q", false)] {
            let member = Self.member(1000)
            member.read(BudgetMessage(sender: "person", number: 1, question: question), at: 0, now: Self.start)
            #expect((member.tick(at: Self.start + .seconds(1))?.answers == "person") == isAnswered)
        }
    }

    /// The records of other fleets would otherwise push the last snapshot out of a topic that they share.
    @Test func `An idle member writes a snapshot when the last one is old`() {
        let member = Self.member(10)
        member.read(Self.spent(4, of: 10), at: 0, now: Self.start)
        let snapshot = BudgetMessage.Snapshot(offset: 0, ledger: member.ledger)
        member.read(BudgetMessage(sender: "other", number: 1, snapshot: snapshot), at: 1, now: Self.start)

        #expect(member.tick(at: Self.start + .seconds(599)) == nil)
        #expect(member.tick(at: Self.start + .seconds(780))?.snapshot?.ledger == member.ledger)
    }

    @Test func `A recreated topic receives the state`() throws {
        let member = Self.member(1000)
        let entry = BudgetMessage.Entry("hotpepper", period: Self.period.label, limit: 1000, take: 400)
        member.read(BudgetMessage(sender: "other", number: 1, entries: [entry]), at: 0, now: Self.start)

        member.begin(Self.remade(), at: Self.start)
        #expect(member.isReady)
        let message = try #require(member.tick(at: Self.start + .seconds(1)))
        let new = BudgetMember(name: "new-0", calls: 1000, at: Self.start)
        new.begin(FleetTopicExtent(first: 0, end: 1, oldest: 0), at: Self.start)
        new.read(message, at: 0, now: Self.start)
        #expect(new.ledger.left(of: "hotpepper", on: Self.period.label, limit: 1000) == 600)
    }

    /// The topic is recreated while the member reads it again from its beginning, because unread records were deleted.
    @Test func `The count is kept when the topic is recreated while it is read again`() throws {
        let member = Self.member(10)
        let spent = BudgetMessage.Entry("hotpepper", period: Self.period.label, limit: 10, take: 10)
        member.read(BudgetMessage(sender: "gone", number: 1, entries: [spent]), at: 0, now: Self.start)

        member.begin(FleetTopicExtent(first: 0, end: 1, oldest: 0), at: Self.start)
        #expect(!member.isReady)
        member.begin(Self.remade(), at: Self.start)
        #expect(member.isReady)
        #expect(member.ledger.left(of: "hotpepper", on: Self.period.label, limit: 10) == 0)
        #expect(member.tick(at: Self.start + .seconds(1))?.snapshot != nil)
    }

    /// A member that starts on a recreated topic may read it before the others have written the period's count.
    @Test func `A member that started before the state adopts it`() throws {
        let known = Self.member(10)
        let spent = BudgetMessage.Entry("hotpepper", period: Self.period.label, limit: 10, take: 10)
        known.read(BudgetMessage(sender: "gone", number: 1, entries: [spent]), at: 0, now: Self.start)

        let new = BudgetMember(name: "new-0", calls: 10, at: Self.start)
        new.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: Self.start)
        new.account("hotpepper")?.reservation.begin(Self.period)
        new.accounts[0].setWaiting(1)
        let reservation = try #require(new.tick(at: Self.start))
        known.begin(Self.remade(), at: Self.start)
        for member in [known, new] { member.read(reservation, at: 0, now: Self.start) }
        #expect(new.ledger.left(of: "hotpepper", on: Self.period.label, limit: 10) == 9)

        let state = try #require(known.tick(at: Self.start + .seconds(1)))
        for member in [known, new] {
            member.read(state, at: 1, now: Self.start + .seconds(1))
            #expect(member.ledger.left(of: "hotpepper", on: Self.period.label, limit: 10) == 0)
        }
        #expect(
            new.accounts[0].take(at: Self.start + .seconds(1)) == nil, "what it was given was not there to be given")
        #expect(new.ledger == known.ledger)
    }

    /// A member that had not read the last records before the topic was deleted has an older count than the one that writes it.
    ///
    /// The first record of the new topic is about something else, and the count is written before that record is read.
    @Test func `A member with an older count adopts the state`() throws {
        let (known, behind) = (Self.member(10), Self.member(10, name: "behind-0"))
        let spent = BudgetMessage.Entry("hotpepper", period: Self.period.label, limit: 10, take: 10)
        known.read(BudgetMessage(sender: "gone", number: 1, entries: [spent]), at: 0, now: Self.start)

        for member in [known, behind] { member.begin(Self.remade(end: 1), at: Self.start) }
        let state = try #require(known.tick(at: Self.start + .seconds(1)))
        for member in [known, behind] {
            member.read(nil, at: 0, now: Self.start + .seconds(1))
            member.read(state, at: 1, now: Self.start + .seconds(1))
            #expect(member.ledger.left(of: "hotpepper", on: Self.period.label, limit: 10) == 0)
        }
    }

    /// Three members have read different parts of the deleted topic. The one with the oldest count writes first.
    @Test func `The count is that of the member that has read most`() throws {
        let members = (0..<3).map { Self.member(100, name: "m\($0)-0") }
        for (number, member) in members.enumerated() {
            for offset in 0...number {
                let spent = Self.spent(30, of: 100, number: UInt64(offset + 1))
                member.read(spent, at: Int64(offset), now: Self.start)
            }
        }

        // The sender of the records that they lack has already written to the new topic.
        let again = Self.spent(30, of: 100, number: 4)
        for member in members {
            member.begin(Self.remade(end: 1), at: Self.start)
            member.read(again, at: 0, now: Self.start)
        }
        let written = try members.map { try #require($0.tick(at: Self.start + .seconds(1))) }
        let new = BudgetMember(name: "new-0", calls: 100, at: Self.start)
        new.begin(FleetTopicExtent(first: 0, end: 1, oldest: 0), at: Self.start)
        new.read(again, at: 0, now: Self.start)
        for (offset, message) in written.enumerated() {
            for member in members + [new] { member.read(message, at: Int64(offset + 1), now: Self.start + .seconds(2)) }
        }

        for member in members + [new] {
            #expect(member.ledger.left(of: "hotpepper", on: Self.period.label, limit: 100) == 0)
            #expect(member.ledger == members[2].ledger)
        }
    }

    /// Another member may have read more of the former topic, and not have published its count yet.
    @Test func `A member reserves nothing just after the topic was recreated`() throws {
        let member = Self.member(100)
        member.begin(Self.remade(), at: Self.start)
        member.accounts[0].setWaiting(1)
        let state = try #require(member.tick(at: Self.start + .seconds(1)))
        #expect(state.entries.allSatisfy { $0.take == 0 })
        member.read(state, at: 0, now: Self.start + .seconds(1))

        #expect(member.tick(at: Self.start + .seconds(2.9)) == nil)
        #expect(try #require(member.tick(at: Self.start + .seconds(3))).entries.contains { $0.take > 0 })
    }

    @Test func `A budget lowered while the topic is read again applies to reserved calls`() throws {
        let member = Self.member(1000)
        member.accounts[0].setWaiting(50)
        let reserved = try #require(member.tick(at: Self.start))
        member.read(reserved, at: 0, now: Self.start)
        #expect(member.accounts[0].take(at: Self.start) != nil)

        member.begin(FleetTopicExtent(first: 0, end: 2, oldest: 0), at: Self.start)
        member.read(reserved, at: 0, now: Self.start)
        let limit = reserved.entries[0].take - 10
        let order = BudgetMessage.Order("hotpepper", period: Self.period.label, limit: limit, time: "now")
        let lower = BudgetMessage(sender: "tool", number: 1, order: order)
        member.read(lower, at: 1, now: Self.start)
        #expect(member.isReady)
        let held = member.accounts[0].reservation.held
        #expect(held == limit - 1, "one was used")

        member.begin(FleetTopicExtent(first: 0, end: 2, oldest: 0), at: Self.start)
        member.read(reserved, at: 0, now: Self.start)
        member.read(lower, at: 1, now: Self.start)
        #expect(member.accounts[0].reservation.held == held, "the same order takes no more")
    }

    /// The oldest offset may be that of a transaction's end, which is no record.
    @Test func `A topic read from its oldest offset is whole although no record is there`() {
        let member = BudgetMember(name: "m-0", calls: 10, at: Self.start)
        member.begin(FleetTopicExtent(first: 7, end: 9, oldest: 7), at: Self.start)
        member.read(nil, at: 8, now: Self.start)
        #expect(member.isReady)
    }

    /// The end of a transaction takes an offset and is no record.
    @Test func `The history ends at the topic's end although no record is there`() {
        let member = BudgetMember(name: "m-0", calls: 10, at: Self.start)
        member.begin(FleetTopicExtent(first: 0, end: 2, oldest: 0), at: Self.start)
        member.read(nil, at: 0, now: Self.start)
        #expect(!member.isReady)
        member.read(nil, at: 1, now: Self.start)
        #expect(member.isReady)
    }
}
