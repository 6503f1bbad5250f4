import Basics
import Testing

@testable import QuotaSharing

/// A process's view of the orders in the fleet topic, and the snapshots that it writes.
struct ControlMemberTests {
    private let start = Instant.now

    private static func pause(_ provider: String, for instance: String? = nil, isTakenBack: Bool = false)
        -> ControlOrder
    {
        var order = ControlOrder(.pauseProvider, provider: provider, by: "mori", at: 0)
        (order.instance, order.isTakenBack) = (instance, isTakenBack)
        return order
    }

    private func message(_ order: ControlOrder) -> ControlMessage {
        ControlMessage(sender: "tool", order: order)
    }

    private func snapshot(_ orders: [ControlOrder], upTo offset: Int64) -> ControlMessage {
        ControlMessage(sender: "other", snapshot: ControlMessage.Snapshot(offset: offset, orders: orders))
    }

    /// Returns a process that has read these records of a topic.
    /// - Parameter first: the offset of the first record; below it there are older ones.
    private func member(
        _ records: [ControlMessage?], from first: Int64 = 0, oldest: Int64 = 0, named name: String = "a"
    ) -> ControlMember {
        let member = ControlMember(name: name, at: start)
        member.begin(
            FleetTopicExtent(first: first, end: first + Int64(records.count), oldest: oldest), at: start)
        for (index, record) in records.enumerated() {
            _ = member.read(record, at: first + Int64(index), now: start)
        }
        return member
    }

    private func paused(_ member: ControlMember) -> [String?] {
        member.book.inForce(for: member.name, at: 0).map(\.provider)
    }

    @Test func `Orders are known once the topic is read to its end`() {
        let member = ControlMember(name: "a", at: start)
        member.begin(FleetTopicExtent(first: 0, end: 2, oldest: 0), at: start)
        _ = member.read(message(Self.pause("hotpepper")), at: 0, now: start)
        #expect(!member.isKnown)
        #expect(paused(member) == [])
        _ = member.read(nil, at: 1, now: start)
        #expect(member.isKnown)
        #expect(paused(member) == ["hotpepper"])
    }

    @Test func `A start without a snapshot reads older records`() {
        let member = member([nil, nil], from: 10, oldest: 0)
        #expect(member.needsOlderRecords)
        #expect(!member.isKnown)
    }

    @Test func `A snapshot keeps orders longer than their records`() {
        let orders = [Self.pause("hotpepper")]
        let member = member([snapshot(orders, upTo: 9), message(Self.pause("google-places"))], from: 10, oldest: 3)
        #expect(paused(member) == ["hotpepper", "google-places"])
    }

    @Test func `Orders between a snapshot and its record count`() {
        let records = [
            message(Self.pause("hotpepper")), message(Self.pause("google-places")),
            snapshot([Self.pause("hotpepper")], upTo: 10),
        ]
        #expect(paused(member(records, from: 10, oldest: 3)) == ["hotpepper", "google-places"])
    }

    @Test func `An incomplete snapshot is not used`() {
        #expect(member([snapshot([], upTo: 7)], from: 10, oldest: 3).needsOlderRecords)
    }

    @Test func `A record that is read twice counts once`() {
        let member = member([message(Self.pause("hotpepper")), message(Self.pause("hotpepper", isTakenBack: true))])
        #expect(member.read(message(Self.pause("hotpepper")), at: 0, now: start) == nil)
        #expect(paused(member) == [])
    }

    // MARK: - Orders and queries for a process

    @Test func `New orders and queries for this process are reported`() {
        let member = member([])
        let own = Self.pause("hotpepper", for: "a")
        #expect(member.read(message(own), at: 0, now: start) == .order(own, sender: "tool"))
        #expect(member.read(message(Self.pause("hotpepper", for: "b")), at: 1, now: start) == nil)

        let all = ControlMessage(sender: "tool", question: ControlMessage.Question())
        #expect(member.read(all, at: 2, now: start) == .question(ControlMessage.Question(), sender: "tool"))
        let other = ControlMessage(
            sender: "tool", question: ControlMessage.Question(order: Self.pause("hotpepper", for: "b")))
        #expect(member.read(other, at: 3, now: start) == nil)
    }

    @Test func `Old queries and orders are not answered`() {
        let member = ControlMember(name: "a", at: start)
        member.begin(FleetTopicExtent(first: 0, end: 9, oldest: 0), at: start)
        #expect(member.read(message(Self.pause("hotpepper")), at: 0, now: start) == nil)
        let question = ControlMessage(sender: "tool", question: ControlMessage.Question())
        #expect(member.read(question, at: 1, now: start) == nil)

        var drain = ControlOrder(.drain, by: "mori", at: 0)
        drain.instance = "a"
        #expect(member.read(message(drain), at: 2, now: start) == .order(drain, sender: "tool"))
    }

    @Test func `A retry given while the topic could not be read applies once`() {
        let retry = message(ControlOrder(.retry, provider: "hotpepper", by: "mori", at: 0))
        let member = member([retry])
        member.begin(FleetTopicExtent(first: 0, end: 2, oldest: 0), at: start)
        #expect(member.read(retry, at: 0, now: start) == nil)
        #expect(member.read(retry, at: 1, now: start) != nil)
        member.begin(FleetTopicExtent(first: 0, end: 2, oldest: 0), at: start)
        #expect(member.read(retry, at: 1, now: start) == nil)
    }

    @Test func `A retry from before the first reading is not carried out`() {
        let member = ControlMember(name: "a", at: start)
        for _ in 0..<2 { member.begin(FleetTopicExtent(first: 0, end: 9, oldest: 0), at: start) }
        let retry = message(ControlOrder(.retry, provider: "hotpepper", by: "mori", at: 0))
        #expect(member.read(retry, at: 0, now: start) == nil)
        member.begin(FleetTopicExtent(first: 0, end: 9, oldest: 0), at: start)
        #expect(member.read(retry, at: 1, now: start) == nil)
    }

    // MARK: - Snapshots

    @Test func `One snapshot is written every ten minutes while there is an order`() {
        let member = member([message(Self.pause("hotpepper"))])
        #expect(member.tick(at: start + .seconds(599), wall: 0) == nil)
        let written = member.tick(at: start + .seconds(751), wall: 0)
        #expect(written?.snapshot?.orders.map(\.provider) == ["hotpepper"])
        #expect(written?.snapshot?.offset == 0)
        #expect(member.tick(at: start + .seconds(752), wall: 0) == nil, "it is on its way")

        _ = member.read(snapshot([Self.pause("hotpepper")], upTo: 0), at: 1, now: start + .seconds(1000))
        #expect(member.tick(at: start + .seconds(1500), wall: 0) == nil, "another process has written it")
    }

    @Test func `An empty snapshot is written only after many records`() {
        let member = member([])
        #expect(member.tick(at: start + .seconds(86_400), wall: 0) == nil)
        _ = member.read(nil, at: 12_600, now: start)
        #expect(member.tick(at: start, wall: 0)?.snapshot?.orders == [])
        #expect(member.tick(at: start, wall: 0) == nil)
    }

    @Test func `An ended order is not written into a snapshot`() {
        var order = Self.pause("hotpepper")
        order.until = 100
        let member = member([message(order)])
        #expect(member.tick(at: start + .seconds(751), wall: 86_400_100) == nil)
        #expect(member.book.orders.isEmpty)
    }

    /// A worker's clock that is ahead must not remove a pause from the snapshot that new workers read.
    @Test func `A clock that is ahead removes no order in force`() throws {
        var order = Self.pause("hotpepper")
        order.until = 3_600_000
        let ahead = member([message(order)])
        let tomorrow: Int64 = 86_400_000
        #expect(ahead.book.inForce(for: "a", at: tomorrow).isEmpty)
        let written = try #require(ahead.tick(at: start + .seconds(751), wall: tomorrow))

        let new = member([written], from: 1, oldest: 0, named: "b")
        #expect(new.isKnown)
        #expect(paused(new) == ["hotpepper"])
        #expect(ahead.tick(at: start + .seconds(3601), wall: tomorrow + 3_600_000) == nil)
        #expect(ahead.book.orders.isEmpty, "by then it is over, by whatever clock")
    }

    /// The clock of the order's sender is ahead, so by the workers' clocks it lasts longer.
    @Test func `An order in force by the own clock is kept however old it is`() {
        var order = Self.pause("hotpepper")
        (order.at, order.until) = (7_200_000, 9_000_000)
        let member = member([message(order)])
        _ = member.tick(at: start + .seconds(3600), wall: 3_600_000)
        #expect(paused(member) == ["hotpepper"])
    }

    // MARK: - A recreated topic

    @Test func `The orders are written into a recreated topic, and others adopt them`() throws {
        let knowing = member([message(Self.pause("hotpepper"))])
        let extent = FleetTopicExtent(first: 0, end: 0, oldest: 0, isRemade: true)
        knowing.begin(extent, at: start)
        #expect(paused(knowing) == ["hotpepper"])
        let written = try #require(knowing.tick(at: start, wall: 0))

        let new = member([], named: "b")
        _ = new.read(message(Self.pause("google-places")), at: 0, now: start)
        _ = new.read(written, at: 1, now: start)
        #expect(paused(new) == ["hotpepper", "google-places"])
    }

    @Test func `Orders stay in force while the topic is read again`() {
        let member = member([message(Self.pause("hotpepper"))])
        member.begin(FleetTopicExtent(first: 0, end: 2, oldest: 0), at: start)
        #expect(paused(member) == ["hotpepper"])
        _ = member.read(message(Self.pause("hotpepper")), at: 0, now: start)
        _ = member.read(message(Self.pause("hotpepper", isTakenBack: true)), at: 1, now: start)
        #expect(paused(member) == [])
    }
}
