import Kafka
import KafkaTestSupport
import TestSupport
import Testing

@testable import WorkerRuntime

/// Begins a record that must be new.
private func begin(_ offset: Int64, in tracker: inout OffsetTracker) throws -> OffsetTracker.Slot {
    let slot = tracker.begin(offset).slot
    return try #require(slot)
}

struct OffsetTrackerTests {
    @Test func `The frontier moves only over the contiguous run of delivered records`() throws {
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

    @Test func `Marking delivered twice changes nothing`() throws {
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

    /// A client may return records a second time within one assignment.
    @Test(arguments: [false, true]) func `A record that is returned again is rejected`(isDelivered: Bool) throws {
        var tracker = OffsetTracker()
        for offset in Int64(10)...14 {
            let slot = try begin(offset, in: &tracker)
            if isDelivered { tracker.markDelivered(slot) }
        }
        let again = (Int64(8)...14).map { tracker.begin($0) }
        #expect(again.allSatisfy { $0 == .isKnown })
        #expect(tracker.span == (isDelivered ? 0 : 5))
        #expect(tracker.frontier == (isDelivered ? 15 : nil))
    }

    /// Transactions take outcomes in the order of the records, so only the contiguous run of ready ones may leave.
    @Test func `The ready run ends at the first record without an outcome`() throws {
        var tracker = OffsetTracker()
        let slots = try [0, 1, 2, 3].map { try begin($0, in: &tracker) }

        tracker.markReady(slots[1])
        #expect(!tracker.isOldestReady)
        #expect(tracker.readySlots(atMost: 9, inOneRun: true).isEmpty)
        tracker.markReady(slots[0])
        #expect(tracker.isOldestReady)
        #expect(tracker.readySlots(atMost: 9, inOneRun: true) == [slots[0], slots[1]])
        #expect(tracker.readySlots(atMost: 1, inOneRun: true) == [slots[0]])
        #expect(tracker.frontier == nil)

        tracker.markDelivered(slots[0])
        tracker.markDelivered(slots[1])
        #expect(tracker.frontier == 2)
        #expect(tracker.readySlots(atMost: 9, inOneRun: true).isEmpty)
        tracker.markReady(slots[2])
        #expect(tracker.isOldestReady)
        #expect(tracker.readySlots(atMost: 9, inOneRun: true) == [slots[2]])
    }

    @Test func `Ready slots skip gaps`() throws {
        var tracker = OffsetTracker()
        let slots = try [0, 1, 2, 3].map { try begin($0, in: &tracker) }
        for slot in [slots[1], slots[3]] { tracker.markReady(slot) }
        #expect(tracker.readySlots(atMost: 9) == [slots[1], slots[3]])
        #expect(tracker.readySlots(atMost: 1) == [slots[1]])
    }

    // MARK: - What is done beyond the frontier

    @Test func `Progress lists the records that are done beyond the frontier`() throws {
        var tracker = OffsetTracker()
        let slots = try [10, 11, 12, 13, 14, 20].map { try begin($0, in: &tracker) }
        #expect(tracker.progress() == nil)

        for index in [2, 4, 5] { tracker.markDelivered(slots[index]) }
        // The gap from 15 to 19 belongs to the run around it.
        #expect(tracker.progress() == .init(next: 10, done: DoneSet([12..<13, 14..<21])))

        tracker.markDelivered(slots[0])
        #expect(tracker.progress() == .init(next: 11, done: DoneSet([12..<13, 14..<21])))
        for index in [1, 3] { tracker.markReady(slots[index]) }
        #expect(tracker.progress(with: [slots[1]]) == .init(next: 13, done: DoneSet([14..<21])))
        #expect(tracker.progress(with: [slots[1], slots[3]]) == .init(next: 21, done: DoneSet()))
    }

    @Test func `The next owner skips records that were done`() throws {
        var tracker = OffsetTracker()
        tracker.inherit(DoneSet([12..<13, 14..<21]), from: 10)

        let first = try begin(10, in: &tracker)
        let second = try begin(11, in: &tracker)
        let passed = tracker.begin(12)
        #expect(passed == .wasDone)
        // Offsets that are not read yet stay in the set.
        #expect(tracker.progress() == .init(next: 10, done: DoneSet([12..<13, 14..<21])))

        tracker.markDelivered(first)
        tracker.markDelivered(second)
        #expect(tracker.frontier == 13)
        let third = try begin(13, in: &tracker)
        for offset in [14, 20] as [Int64] {
            let beginning = tracker.begin(offset)
            #expect(beginning == .wasDone)
        }
        tracker.markDelivered(third)
        #expect(tracker.frontier == 21)
        #expect(tracker.begin(21).slot != nil)
    }

    /// Retention deletes records behind one slow request that the former owner had finished.
    @Test func `Deleted offsets that were done are not missed`() throws {
        let deleted = Int64(100)..<4920
        var tracker = OffsetTracker()
        tracker.inherit(DoneSet([101..<4920, 4930..<4931]), from: 100)
        #expect(tracker.countUndone(among: deleted) == 1)

        // Records behind the deleted ones may come before the deletion is reported.
        tracker = OffsetTracker()
        tracker.inherit(DoneSet([101..<4920, 4930..<4931]), from: 100)
        let passed = tracker.begin(3000)
        #expect(passed == .wasDone)
        #expect(tracker.countUndone(among: 100..<3000) == 1)

        tracker = OffsetTracker()
        #expect(tracker.countUndone(among: deleted) == 4820)
    }

    // MARK: - Gaps at the end

    /// Transaction markers and aborted records take offsets, and are never returned.
    @Test func `The frontier passes a gap at the end of the partition`() throws {
        var tracker = OffsetTracker()
        for offset in Int64(0)...4 {
            let slot = try begin(offset, in: &tracker)
            tracker.markDelivered(slot)
        }
        _ = tracker.takeNews()

        tracker.noteGap(5..<6)
        #expect(tracker.hasNews)
        #expect(tracker.progress() == .init(next: 6, done: DoneSet()))
        #expect(tracker.nextToTake == 6)
        tracker.noteGap(5..<8)
        #expect(tracker.progress()?.next == 8, "the next transaction was aborted")

        let next = try begin(8, in: &tracker)
        #expect(tracker.progress()?.next == 8)
        tracker.markDelivered(next)
        #expect(tracker.progress()?.next == 9)
    }

    @Test func `An open record before a gap is not passed`() throws {
        var tracker = OffsetTracker()
        let slots = try (Int64(0)...4).map { try begin($0, in: &tracker) }
        for slot in slots.dropFirst() { tracker.markDelivered(slot) }
        tracker.markReady(slots[0])

        tracker.noteGap(5..<6)
        #expect(tracker.frontier == nil)
        #expect(tracker.progress()?.next == 0)
        #expect(tracker.progress(with: [slots[0]]) == .init(next: 6, done: DoneSet()), "the next transaction passes it")

        let later = try begin(6, in: &tracker)
        tracker.markDelivered(slots[0])
        #expect(tracker.frontier == 6)
        tracker.markDelivered(later)
        #expect(tracker.progress() == .init(next: 7, done: DoneSet()))
    }

    /// Records wait for crash notes or for room after they were read.
    @Test func `A record that was read and has not begun is not passed`() throws {
        var tracker = OffsetTracker()
        let first = try begin(3, in: &tracker)
        tracker.noteGap(5..<6)
        tracker.markDelivered(first)
        #expect(tracker.progress()?.next == 4)

        let second = try begin(4, in: &tracker)
        tracker.markDelivered(second)
        #expect(tracker.progress()?.next == 6)
    }

    @Test func `A new owner passes a gap only from its first offset on`() {
        var tracker = OffsetTracker()
        tracker.inherit(DoneSet(), from: 5)
        tracker.noteGap(6..<7)
        #expect(tracker.progress() == nil, "the record at offset 5 was read")

        tracker = OffsetTracker()
        tracker.inherit(DoneSet(), from: 5)
        tracker.noteGap(5..<7)
        #expect(tracker.progress() == .init(next: 7, done: DoneSet()))
    }

    /// Retention has deleted what the former owner had done beyond its offset.
    @Test func `A gap ends the done-set of the former owner`() {
        var tracker = OffsetTracker()
        tracker.inherit(DoneSet([7..<9]), from: 5)
        tracker.noteGap(5..<20)
        #expect(tracker.progress() == .init(next: 20, done: DoneSet()))
        #expect(tracker.countUndone(among: 5..<20) == 13)
    }

    /// Compared with the simple definition, over several owners, each of which inherits the commit of the previous one.
    @Test(arguments: 0..<50)
    func `Every record is done once over many owners`(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        var log: [Int64] = []
        for _ in 0..<300 { log.append((log.last ?? -1) + Int64.random(in: 1...3, using: &random)) }
        var done: Set<Int64> = []
        var committed = CommittedOffset(0)

        for _ in 0..<20 {
            var tracker = OffsetTracker()
            if case .known(let metadata) = CommitMetadata.read(committed) {
                tracker.inherit(metadata.done, from: committed.offset)
            }
            let rest = log.filter { $0 >= committed.offset }
            let count = Int.random(in: 0...90, using: &random)
            for offset in rest.prefix(count) {
                guard case .run(let slot) = tracker.begin(offset) else { continue }
                #expect(!done.contains(offset))
                if Int.random(in: 0..<3, using: &random) == 0 { continue }
                tracker.markDelivered(slot)
                done.insert(offset)
            }
            // The log ended here for a moment.
            if let last = rest.prefix(count).last, let next = rest.dropFirst(count).first, next > last + 1 {
                tracker.noteGap(last + 1..<next)
            }
            guard let progress = tracker.progress() else { continue }
            var metadata = CommitMetadata()
            metadata.done = progress.done
            let text = metadata.text(for: progress.next, atMost: 4096)
            #expect(text.cut == nil)
            committed = CommittedOffset(progress.next, metadata: text.text)
        }
        #expect(log.filter { $0 < committed.offset }.allSatisfy(done.contains))
    }

    /// Compared with the simple definition: the frontier is one past the longest finished prefix of the delivered records.
    @Test(arguments: 0..<50)
    func `The frontier agrees with its definition`(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        var tracker = OffsetTracker()
        var delivered: [(offset: Int64, slot: OffsetTracker.Slot, finished: Bool)] = []
        var next: Int64 = 0
        var (gap, passed): (Range<Int64>, Int64) = (0..<0, 0)
        for _ in 0..<400 {
            if let last = delivered.last?.offset, Int.random(in: 0..<8, using: &random) == 0 {
                gap = last + 1..<next + 1 + Int64.random(in: 1...3, using: &random)
                next = gap.upperBound - 1
                tracker.noteGap(gap)
            }
            let open = delivered.indices.filter { !delivered[$0].finished }
            if open.isEmpty || Bool.random(using: &random) {
                next += Int64.random(in: 1...5, using: &random)
                delivered.append((next, try begin(next, in: &tracker), false))
            } else if let index = open.randomElement(using: &random) {
                delivered[index].finished = true
                tracker.markDelivered(delivered[index].slot)
            }
            let run = delivered.prefix { $0.finished }
            let firstOpen = delivered.first { !$0.finished }?.offset ?? .max
            if gap.upperBound <= firstOpen { passed = gap.upperBound }
            #expect(tracker.frontier ?? 0 == max(run.last.map { $0.offset + 1 } ?? 0, passed))
            #expect(tracker.undeliveredCount == delivered.count { !$0.finished })
        }
    }
}
