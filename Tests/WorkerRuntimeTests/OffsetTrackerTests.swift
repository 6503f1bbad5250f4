import TestSupport
import Testing

@testable import WorkerRuntime

/// Notes a record that must be new.
private func begin(_ offset: Int64, in tracker: inout OffsetTracker) throws -> OffsetTracker.Slot {
    let slot = tracker.begin(offset)
    return try #require(slot)
}

struct OffsetTrackerTests {
    @Test func frontierMovesOnlyOverTheUnbrokenRun() throws {
        var tracker = OffsetTracker()
        let slots = try [10, 11, 12, 13, 14].map { try begin($0, in: &tracker) }
        #expect(tracker.frontier == nil)
        tracker.finish(slots[1])
        tracker.finish(slots[2])
        #expect(tracker.frontier == nil)
        tracker.finish(slots[0])
        #expect(tracker.frontier == 13)
        tracker.finish(slots[4])
        #expect(tracker.frontier == 13)
        tracker.finish(slots[3])
        #expect(tracker.frontier == 15)
        #expect(tracker.span == 0)
        #expect(tracker.unfinishedCount == 0)
    }

    @Test func gapsInTheLogAreNotWaitedFor() throws {
        var tracker = OffsetTracker()
        let slots = try [3, 90, 4000].map { try begin($0, in: &tracker) }
        for slot in slots.reversed() { tracker.finish(slot) }
        #expect(tracker.frontier == 4001)
    }

    @Test func finishingTwiceChangesNothing() throws {
        var tracker = OffsetTracker()
        let first = try begin(0, in: &tracker)
        let second = try begin(1, in: &tracker)
        tracker.finish(first)
        tracker.finish(first)
        #expect(tracker.frontier == 1)
        #expect(tracker.unfinishedCount == 1)
        tracker.finish(second)
        #expect(tracker.frontier == 2)
    }

    @Test func aRecordDeliveredAgainWhileInFlightDoesNotRunTwice() throws {
        var tracker = OffsetTracker()
        _ = try begin(7, in: &tracker)
        _ = try begin(8, in: &tracker)
        let again = [tracker.begin(7), tracker.begin(8)]
        #expect(again == [nil, nil])
        #expect(tracker.span == 2)
    }

    @Test func aLogThatStartsOverIsFollowed() throws {
        var tracker = OffsetTracker()
        let first = try begin(500, in: &tracker)
        tracker.finish(first)
        let again = try begin(0, in: &tracker)
        #expect(tracker.frontier == 501)
        tracker.finish(again)
        #expect(tracker.frontier == 1)
    }

    /// Against the plain definition: the frontier is one past the longest finished prefix of what was delivered.
    @Test(arguments: 0..<50)
    func agreesWithItsDefinition(seed: UInt64) throws {
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
                tracker.finish(delivered[index].slot)
            }
            let run = delivered.prefix { $0.finished }
            #expect(tracker.frontier == run.last.map { $0.offset + 1 })
            #expect(tracker.unfinishedCount == delivered.count { !$0.finished })
        }
    }
}
