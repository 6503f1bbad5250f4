import Kafka
import TestSupport
import Testing

@testable import WorkerRuntime

/// The records that a lane accepts, and the effects of a request's end.
struct PartitionTableTests {
    private static let first = TopicPartition("requests", 0)

    // MARK: - Assignments

    @Test func `A record is taken only from an assigned partition`() async throws {
        try await TableFixture.run { fixture in
            let old = AssignedPartition(Self.first, epoch: 1)
            let new = AssignedPartition(Self.first, epoch: 2)
            #expect(fixture.take(0, of: old) == nil, "nothing is assigned")

            fixture.table.add([old])
            #expect(fixture.take(0, of: old) != nil)
            #expect(fixture.take(0, of: old) == nil, "it is under way")
            #expect(fixture.take(0, of: AssignedPartition(TopicPartition("requests", 1), epoch: 1)) == nil)

            #expect(fixture.table.remove([old]).count == 1)
            fixture.table.add([new])
            #expect(fixture.take(1, of: old) == nil, "it was read for an assignment that is over")
            #expect(fixture.take(0, of: new) != nil, "the new assignment begins anew")

            fixture.table[Self.first]?.isLeaving = true
            #expect(fixture.take(1, of: new) == nil, "what is not taken yet is left to the next owner")
        }
    }

    @Test func `Removing a former assignment removes nothing`() async throws {
        try await TableFixture.run { fixture in
            let old = AssignedPartition(Self.first, epoch: 1)
            let new = AssignedPartition(Self.first, epoch: 2)
            fixture.table.add([new])
            #expect(fixture.table.remove([old]).isEmpty)
            #expect(fixture.table.count == 1)
            #expect(fixture.assignedPartitions == 1)

            let removed = fixture.table.remove([new, old])
            #expect(removed.map(\.id) == [new])
            #expect(fixture.table.all.isEmpty)
            #expect(removed.allSatisfy { !fixture.table.contains($0) })
            #expect(fixture.assignedPartitions == 0)
        }
    }

    // MARK: - The end of a request

    @Test func `A delivered request moves the frontier and makes room`() async throws {
        try await TableFixture.run { fixture in
            let requests = try fixture.takeAll(0..<3)
            let partition = try #require(fixture.table[Self.first])
            #expect(fixture.gate.open == 3)

            fixture.table.finish(requests[1], isDelivered: true)
            #expect(partition.commits.tracker.frontier == nil, "the one before it is not delivered")
            fixture.table.finish(requests[0], isDelivered: true)
            #expect(partition.commits.tracker.frontier == 2)
            #expect(fixture.gate.open == 1)
        }
    }

    @Test func `A request without an outcome makes room and keeps its offset`() async throws {
        try await TableFixture.run { fixture in
            let requests = try fixture.takeAll(0..<2)
            let partition = try #require(fixture.table[Self.first])
            fixture.table.finish(requests[0], isDelivered: false)
            fixture.table.finish(requests[1], isDelivered: true)

            #expect(partition.commits.tracker.frontier == nil)
            #expect(fixture.gate.open == 0)
            #expect(partition.isIdle)
        }
    }

    /// A delivery report may come after the partition was revoked and assigned again.
    @Test func `A request of a former assignment moves no frontier`() async throws {
        try await TableFixture.run { fixture in
            let late = try fixture.takeAll(0..<1)[0]
            _ = fixture.table.remove([late.partition.id])
            fixture.table.add([AssignedPartition(Self.first, epoch: 2)])

            fixture.table.finish(late, isDelivered: true)
            #expect(fixture.table[Self.first]?.commits.tracker.frontier == nil)
            #expect(late.partition.commits.tracker.frontier == nil)
            #expect(fixture.gate.open == 0)
        }
    }

    // MARK: - Order

    @Test(arguments: [WorkerConfiguration.Ordering.unordered, .partition, .key])
    func `A request has a position in its order`(ordering: WorkerConfiguration.Ordering) async throws {
        try await TableFixture.run(ordering: ordering) { fixture in
            fixture.table.add([AssignedPartition(Self.first, epoch: 1)])
            let requests = [
                fixture.take(0, key: "a"), fixture.take(1, key: "a"), fixture.take(2, key: "b"), fixture.take(3),
            ]
            .compactMap(\.self)
            try #require(requests.count == 4)

            let groups = requests.map { $0.orderPosition?.group }
            switch ordering {
            case .unordered: #expect(groups.allSatisfy { $0 == nil })
            case .partition:
                #expect(groups.allSatisfy { $0 == .partition(TopicPartition("requests", 0), .interactive) })
            case .key:
                #expect(groups[0] != nil && groups[0] == groups[1])
                #expect(groups[2] != nil && groups[2] != groups[0])
                #expect(groups[3] == nil, "there is nothing to keep in order")
            }
            for request in requests { request.leaveOrder() }
        }
    }

    // MARK: - Pausing

    @Test func `A partition is paused until the last reason has ended`() async throws {
        try await TableFixture.run { fixture in
            let span = fixture.maxSpan
            let requests = try fixture.takeAll(0..<Int64(span))
            try await eventually("the partition is held") { await fixture.source.held == [Self.first] }
            fixture.table.expectDeadLetter(of: requests[span - 1])
            #expect(fixture.table[Self.first]?.pauseReasons == [.span, .deadLetter])

            for request in requests[1..<span - 1] { fixture.table.finish(request, isDelivered: true) }
            #expect(fixture.table[Self.first]?.pauseReasons == [.span, .deadLetter], "the oldest one is not delivered")
            fixture.table.finish(requests[0], isDelivered: true)
            #expect(fixture.table[Self.first]?.pauseReasons == .deadLetter)
            fixture.table.finish(requests[span - 1], isDelivered: true)
            #expect(fixture.table[Self.first]?.pauseReasons == [])
            try await eventually("it is read again") { await fixture.source.held.isEmpty }
        }
    }

    /// Only further reading reduces the inherited done-set, so a partition that waited for that would wait forever.
    @Test func `A partition is read on although a former owner has used the metadata`() async throws {
        try await TableFixture.run(doneSetBytes: 46) { fixture in
            let id = AssignedPartition(Self.first, epoch: 1)
            fixture.table.add([id])
            // 39 of 46 bytes.
            var metadata = CommitMetadata()
            for offset: Int64 in stride(from: 100, through: 600, by: 100) { metadata.done.append(offset..<offset + 1) }
            let text = metadata.text(for: 0, atMost: 46)
            try #require(text.cut == nil && text.text.utf8.count > 35)
            fixture.table.begin(at: [id: CommittedOffset(0, metadata: text.text)])

            let requests = (0..<20).compactMap { fixture.take($0) }
            try #require(requests.count == 20)
            for request in requests where request.offset % 2 == 1 { fixture.table.finish(request, isDelivered: true) }
            _ = fixture.table.takeProgress()
            #expect(fixture.table[Self.first]?.pauseReasons == .metadata, "what this owner has done does not fit")

            for request in requests where request.offset % 2 == 0 { fixture.table.finish(request, isDelivered: true) }
            _ = fixture.table.takeProgress()
            #expect(fixture.table[Self.first]?.pauseReasons == [], "nothing is open")
            try await eventually("it is read again") { await fixture.source.held.isEmpty }
        }
    }

    @Test func `A partition without done-sets does not wait for room`() async throws {
        try await TableFixture.run(doneSetBytes: 0) { fixture in
            let requests = try fixture.takeAll(0..<3)
            for request in requests.dropFirst() { fixture.table.finish(request, isDelivered: true) }
            _ = fixture.table.takeProgress()
            #expect(fixture.table[Self.first]?.pauseReasons == [])
        }
    }

    // MARK: - Waiting for the end

    @Test func `The wait ends with the last request`() async throws {
        try await TableFixture.run { fixture in
            let requests = try fixture.takeAll(0..<2)
            let waiting = fixture.startWaiting(for: .seconds(60))
            for request in requests {
                let hasWaited = fixture.hasWaited
                #expect(!hasWaited)
                fixture.table.finish(request, isDelivered: true)
            }
            await waiting.value
            #expect(requests.allSatisfy { $0.fate == .wanted })
        }
    }

    @Test func `A request that is not done in time is abandoned`() async throws {
        try await TableFixture.run { fixture in
            let requests = try fixture.takeAll(0..<2)
            requests[0].beginDelivery()
            await fixture.startWaiting(for: .milliseconds(20)).value
            #expect(requests[0].fate == .wanted, "its outcome is on its way")
            #expect(requests[1].fate == .abandoned)
        }
    }

    @Test func `The wait ends when all requests are abandoned`() async throws {
        try await TableFixture.run { fixture in
            let requests = try fixture.takeAll(0..<2)
            let waiting = fixture.startWaiting(for: .seconds(60))
            fixture.table.abandonAll()
            await waiting.value
            #expect(requests.allSatisfy { $0.fate == .abandoned })
        }
    }
}
