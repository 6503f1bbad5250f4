import TestSupport
import Testing

@testable import WorkerRuntime

/// Notes a record that must be new.
private func begin(_ offset: Int64, in tracker: inout OffsetTracker) throws -> OffsetTracker.Slot {
    let slot = tracker.begin(offset)
    return try #require(slot)
}

struct OffsetTrackerTests {
    @Test func frontierMovesOnlyOverTheUnbrokenRunOfDelivered() throws {
        var tracker = OffsetTracker()
        let slots = try [10, 11, 12, 13, 14].map { try begin($0, in: &tracker) }
        #expect(tracker.frontier == nil)
        tracker.markDelivered(slots[1])
        tracker.markDelivered(slots[2])
        #expect(tracker.frontier == nil)
        tracker.markDelivered(slots[0])
        #expect(tracker.frontier == 13)
        tracker.markDelivered(slots[4])
        #expect(tracker.frontier == 13)
        tracker.markDelivered(slots[3])
        #expect(tracker.frontier == 15)
        #expect(tracker.span == 0)
        #expect(tracker.undeliveredCount == 0)
    }

    @Test func frontierPassesGapsInTheLog() throws {
        var tracker = OffsetTracker()
        let slots = try [3, 90, 4000].map { try begin($0, in: &tracker) }
        for slot in slots.reversed() { tracker.markDelivered(slot) }
        #expect(tracker.frontier == 4001)
    }

    @Test func markingDeliveredTwiceChangesNothing() throws {
        var tracker = OffsetTracker()
        let first = try begin(0, in: &tracker)
        let second = try begin(1, in: &tracker)
        tracker.markDelivered(first)
        tracker.markDelivered(first)
        #expect(tracker.frontier == 1)
        #expect(tracker.undeliveredCount == 1)
        tracker.markDelivered(second)
        #expect(tracker.frontier == 2)
    }

    @Test func recordHandedOverAgainWhileInFlightIsRefused() throws {
        var tracker = OffsetTracker()
        _ = try begin(7, in: &tracker)
        _ = try begin(8, in: &tracker)
        let again = [tracker.begin(7), tracker.begin(8)]
        #expect(again == [nil, nil])
        #expect(tracker.span == 2)
    }

    @Test func frontierFollowsALogThatStartsOver() throws {
        var tracker = OffsetTracker()
        let first = try begin(500, in: &tracker)
        tracker.markDelivered(first)
        let again = try begin(0, in: &tracker)
        #expect(tracker.frontier == 501)
        tracker.markDelivered(again)
        #expect(tracker.frontier == 1)
    }

    /// A client may hand records over a second time within one assignment. The frontier then moves back with them, and
    /// forward again: what is committed in between repeats work after a crash, and skips none.
    @Test func redeliveredRunMovesTheFrontierBackAndForwardAgain() throws {
        var tracker = OffsetTracker()
        for offset in Int64(10)...14 { tracker.markDelivered(try begin(offset, in: &tracker)) }
        #expect(tracker.frontier == 15)

        var frontiers: [Int64?] = []
        for offset in Int64(12)...15 {
            tracker.markDelivered(try begin(offset, in: &tracker))
            frontiers.append(tracker.frontier)
        }
        #expect(frontiers == [13, 14, 15, 16])
    }

    /// Transactions take outcomes in the order of the records, so only the unbroken run of ready ones may leave.
    @Test func readyRunEndsAtTheFirstRecordWithoutOutcome() throws {
        var tracker = OffsetTracker()
        let slots = try [0, 1, 2, 3].map { try begin($0, in: &tracker) }

        let isEarly = tracker.markReady(slots[1])
        #expect(!isEarly)
        #expect(tracker.readyRun(atMost: 9).isEmpty)
        let oldestIsReady = tracker.markReady(slots[0])
        #expect(oldestIsReady)
        #expect(tracker.readyRun(atMost: 9) == [slots[0], slots[1]])
        #expect(tracker.readyRun(atMost: 1) == [slots[0]])
        #expect(tracker.frontier == nil)

        tracker.markDelivered(slots[0])
        tracker.markDelivered(slots[1])
        #expect(tracker.frontier == 2)
        #expect(tracker.readyRun(atMost: 9).isEmpty)
        let nextIsReady = tracker.markReady(slots[2])
        #expect(nextIsReady)
        #expect(tracker.readyRun(atMost: 9) == [slots[2]])
    }

    /// Against the plain definition: the frontier is one past the longest finished prefix of what was delivered.
    @Test(arguments: 0..<50)
    func frontierAgreesWithItsDefinition(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        var tracker = OffsetTracker()
        var delivered: [(offset: Int64, slot: OffsetTracker.Slot, finished: Bool)] = []
        var next: Int64 = 0
        for _ in 0..<400 {
            let open = delivered.indices.filter { !delivered[$0].finished }
            if open.isEmpty || Bool.random(using: &random) {
                next += Int64.random(in: 1...5, using: &random)
                delivered.append((next, try begin(next, in: &tracker), false))
            } else if let index = open.randomElement(using: &random) {
                delivered[index].finished = true
                tracker.markDelivered(delivered[index].slot)
            }
            let run = delivered.prefix { $0.finished }
            #expect(tracker.frontier == run.last.map { $0.offset + 1 })
            #expect(tracker.undeliveredCount == delivered.count { !$0.finished })
        }
    }
}
