import Foundation
import Kafka
import LocationSearch
import ProviderCalls
import QuotaSharing
import Synchronization
import TestSupport
import Testing

@testable import WorkerRuntime

/// Requests of different classes or tenants, on a whole lane.
struct WaitingRoomTests {
    /// Provider queues with room for a given number of calls at once.
    final class Lines: CallQueues, Sendable {
        private let limit: Double?
        let waiting = Mutex<[CallLine: WaitingRequests]>([:])
        /// True if no batch request may begin.
        private let isFullForBatch = Mutex(false)
        private let wake = Mutex<(@Sendable () -> Void)?>(nil)

        init(pace: Double? = nil) { limit = pace }

        func line(of request: SearchRequest, at service: any PlaceService) -> CallLine { CallLine(service.id) }
        func hasShortLine(for requestClass: RequestClass, in line: CallLine) -> Bool {
            requestClass == .interactive || !isFullForBatch.withLock { $0 }
        }
        func pace(of line: CallLine) -> Double? { limit }
        func noteWaiting(_ waiting: [CallLine: WaitingRequests]) { self.waiting.withLock { $0 = waiting } }
        func onShorterLine(_ wake: @escaping @Sendable () -> Void) { self.wake.withLock { $0 = wake } }

        func fillForBatch() { isFullForBatch.withLock { $0 = true } }

        /// Permits batch requests again.
        func empty(on lane: isolated WorkerLane) {
            isFullForBatch.withLock { $0 = false }
            wake.withLock { $0 }?()
        }
    }

    static func request(_ id: String, _ requestClass: RequestClass, session: String? = nil) -> String {
        let session = session.map { #","sessionId":"\#($0)""# } ?? ""
        return
            #"{"requestId":"\#(id)","provider":"hotpepper","priority":"\#(requestClass.rawValue)","location":{"latitude":35.69,"longitude":139.7}\#(session)}"#
    }

    /// Returns the headers of a request that expires after some seconds.
    private static func expiry(inSeconds seconds: Double) -> [RecordHeader] {
        [
            ("ce_specversion", "1.0"), ("ce_id", "1"), ("ce_source", "test"),
            ("ce_type", "location-search.requested.v1"),
            ("ce_expirytime", Date.now.addingTimeInterval(seconds).formatted(.iso8601)),
        ].map { RecordHeader($0.0, text: $0.1) }
    }

    /// Runs a lane with a concurrency of two, both permits of which are taken by the first requests.
    private static func runFull(
        lines: Lines = Lines(), _ change: (inout WorkerConfiguration) -> Void = { _ in },
        _ body: (LaneFixture) async throws -> Void
    ) async throws {
        try await LaneFixture.run(
            calls: lines,
            {
                $0.concurrency = 2
                $0.topics.requestTopics = [RequestTopic("requests", classes: [.interactive, .batch])]
                change(&$0)
            },
            { fixture in
                await fixture.provider.hold()
                await fixture.source.append([request("first", .batch), request("second", .batch)])
                try await eventually("both places are taken") { await fixture.provider.asked.count == 2 }
                try await body(fixture)
            })
    }

    @Test(arguments: [RequestClass.interactive, .batch])
    func `The window grows while no request finishes`(requestClass: RequestClass) async throws {
        try await LaneFixture.run(
            calls: Lines(),
            {
                $0.concurrency = 1000
                $0.commitInterval = .seconds(60)  // Each commit wakes the lane.
                $0.topics.requestTopics = [RequestTopic("requests", classes: [.interactive, .batch])]
            },
            { fixture in
                await fixture.provider.hold()
                await fixture.source.append((0..<300).map { Self.request("\($0)", requestClass) })
                try await eventually("all have begun") { await fixture.provider.asked.count == 300 }
            })
    }

    @Test func `An interactive request overtakes the batch requests of its partition`() async throws {
        try await Self.runFull { fixture in
            await fixture.source.append((0..<50).map { Self.request("batch-\($0)", .batch) })
            await fixture.source.append([Self.request("urgent", .interactive)])
            try await fixture.waits(count: 51)

            await fixture.provider.release(1)
            try await eventually("a third is asked for") { await fixture.provider.asked.count == 3 }
            #expect(await fixture.provider.asked.last == "urgent")

            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 53)
            #expect(await fixture.provider.asked.count == 53)
        }
    }

    @Test func `A quiet tenant overtakes a flood of its class`() async throws {
        try await Self.runFull {
            $0.flows.fairBy = .header("tenant")
        } _: { fixture in
            let (flood, quiet) = (RecordHeader("tenant", text: "flood"), RecordHeader("tenant", text: "quiet"))
            await fixture.source.append((0..<50).map { Self.request("flood-\($0)", .batch) }, headers: [flood])
            await fixture.source.append([Self.request("quiet", .batch)], headers: [quiet])
            try await fixture.waits(count: 51)

            for _ in 0..<2 { await fixture.provider.release(1) }
            try await eventually("two more are asked for") { await fixture.provider.asked.count == 4 }
            #expect(await fixture.provider.asked.contains("quiet"))
            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 53)
        }
    }

    @Test func `Requests that are done beyond waiting ones are in the done-set`() async throws {
        try await Self.runFull { fixture in
            await fixture.source.append((0..<20).map { Self.request("batch-\($0)", .batch) })
            await fixture.source.append([Self.request("urgent", .interactive)])
            try await fixture.waits(count: 21)
            await fixture.provider.release(1)
            try await eventually("the urgent one is asked for") { await fixture.provider.asked.last == "urgent" }
            await fixture.provider.release(2)
            try await fixture.outcomesAreWritten(["urgent"])
            try await eventually("the done-set says so") {
                let commit = await fixture.source.commits[TopicPartition("requests", 0)]
                guard let commit, case .known(let metadata) = CommitMetadata.read(commit) else { return false }
                return metadata.done.contains(22) && !metadata.done.contains(10)
            }
            #expect(await fixture.source.committed[TopicPartition("requests", 0)].map { $0 < 22 } ?? false)
        }
    }

    /// Other workers of the fleet get the quota that this one cannot use.
    @Test func `A lane that is paused or drains demands nothing of the fleet`() async throws {
        let lines = Lines()
        try await Self.runFull(lines: lines) { fixture in
            await fixture.source.append((0..<20).map { Self.request("batch-\($0)", .batch) })
            try await eventually("they are counted") { lines.waiting.withLock { !$0.isEmpty } }

            var paused = LaneControls()
            paused.isIntakeOpen = false
            await fixture.lane.apply(paused)
            await fixture.provider.release(1)
            try await eventually("one has ended") { await fixture.sink.handedOver.count == 1 }
            #expect(lines.waiting.withLock { $0.isEmpty })

            await fixture.lane.apply(LaneControls())
            try await eventually("they are counted again") { lines.waiting.withLock { !$0.isEmpty } }
            await fixture.lane.drain()
            #expect(lines.waiting.withLock { $0.isEmpty })
        }
    }

    @Test func `Waiting requests are dropped with their partition`() async throws {
        try await Self.runFull { fixture in
            await fixture.source.append((0..<20).map { Self.request("batch-\($0)", .batch) })
            try await fixture.waits(count: 20)
            async let revoked: Void = fixture.source.revoke([0])
            try await fixture.waits(count: 0)
            await fixture.provider.releaseAll()
            await revoked
            #expect(await fixture.provider.asked == ["first", "second"])
        }
    }

    @Test func `Waiting searches leave the memory with their partition`() async throws {
        try await Self.runFull { fixture in
            await fixture.source.append((0..<20).map { Self.request("batch-\($0)", .batch, session: "s-\($0)") })
            try await fixture.waits(count: 20)
            let partition = try #require(await fixture.lane.weakPartition(TopicPartition("requests", 0)))
            #expect(partition.exists)
            async let revoked: Void = fixture.source.revoke([0])
            try await fixture.waits(count: 0)
            await fixture.provider.releaseAll()
            await revoked
            try await eventually("the partition is freed") { !partition.exists }
        }
    }

    @Test func `Waiting requests do not begin while commits of their partition are refused`() async throws {
        try await Self.runFull { fixture in
            await fixture.source.append((0..<20).map { Self.request("batch-\($0)", .batch) })
            try await fixture.waits(count: 20)
            await fixture.source.refuseCommits(
                of: "requests", with: KafkaError(.authentication, code: 29, "not allowed"))
            await fixture.provider.release(1)
            try await eventually("the partition is paused") { await !fixture.source.held.isEmpty }
            let begun = await fixture.provider.asked.count
            await fixture.provider.releaseAll()
            try await eventually("all that had begun have ended") { await fixture.written.count == begun }
            #expect(await fixture.provider.asked.count == begun)
            try await fixture.waits(count: 22 - begun)

            await fixture.source.refuseCommits(of: "requests", with: nil)
            try await fixture.isCommitted(upTo: 22)
        }
    }

    @Test func `An order to pause intake holds waiting requests at once`() async throws {
        try await LaneFixture.run(
            calls: Lines(),
            {
                $0.concurrency = 1000
                $0.topics.requestTopics = [RequestTopic("requests", classes: [.interactive, .batch])]
            },
            { fixture in
                await fixture.source.append((0..<3000).map { Self.request("\($0)", .interactive) })
                try await eventually("some have begun") { await !fixture.provider.asked.isEmpty }
                var paused = LaneControls()
                paused.isIntakeOpen = false
                await fixture.lane.apply(paused)
                try await eventually("all that have begun have ended") { await fixture.lane.status.inFlight == 0 }
                let begun = await fixture.provider.asked.count
                #expect(begun < 3000)
                await fixture.lane.apply(LaneControls())
                try await fixture.isCommitted(upTo: 3000)
            })
    }

    @Test func `The older search of a session ends while it waits`() async throws {
        try await Self.runFull { fixture in
            await fixture.source.append([
                Self.request("older", .batch, session: "s"), Self.request("newer", .batch, session: "s"),
            ])
            try await fixture.outcome(of: "older", contains: "superseded")
            #expect(await fixture.provider.asked == ["first", "second"])
            await fixture.provider.releaseAll()
            try await fixture.outcomesAreWritten(["newer"])
        }
    }

    @Test func `A search that is rejected at once ends the older one of its session`() async throws {
        try await Self.runFull(lines: Lines(pace: 1)) { fixture in
            await fixture.source.append([Self.request("older", .batch, session: "s")])
            await fixture.source.append((0..<20).map { Self.request("batch-\($0)", .batch) })
            try await fixture.waits(count: 21)

            await fixture.source.append(
                [Self.request("newer", .batch, session: "s")], headers: Self.expiry(inSeconds: 10))
            try await fixture.outcome(of: "newer", contains: "rate-limited", "retryAfterMs")
            try await fixture.outcome(of: "older", contains: "superseded")
            #expect(await fixture.provider.asked == ["first", "second"])
        }
    }

    @Test func `A partition is read on when its last waiting search is ended`() async throws {
        try await Self.runFull {
            $0.flows.lookAheadBytes = 1000  // One request is larger.
        } _: { fixture in
            let newer = Self.request("newer", .batch, session: "s")
            await fixture.source.append([
                Self.request("older", .batch, session: "s"), newer.replacing("hotpepper", with: "google-places"),
            ])
            try await fixture.outcome(of: "older", contains: "superseded")
            try await eventually("the partition is read on") { await fixture.source.held.isEmpty }
        }
    }

    @Test func `A wrong priority is named if the topic lets requests choose`() async throws {
        try await Self.runFull { fixture in
            await fixture.source.append([
                Self.request("wrong", .batch).replacing("\"priority\":\"batch\"", with: "\"priority\":\"high\"")
            ])
            try await fixture.outcome(of: "wrong", contains: "invalid-request", "\"member\":\"priority\"")
        }
    }

    @Test func `The memory of waiting requests is bounded`() async throws {
        try await Self.runFull {
            $0.flows.lookAheadBytes = 100 * 1200
        } _: { fixture in
            for batch in 0..<20 {
                await fixture.source.append((0..<20).map { Self.request("batch-\(batch)-\($0)", .batch) })
            }
            try await eventually("the partition is paused") { await !fixture.source.held.isEmpty }
            #expect(await fixture.source.unreadCount > 0)
            await fixture.provider.releaseAll()
            try await fixture.isCommitted(upTo: 402)
        }
    }
}
