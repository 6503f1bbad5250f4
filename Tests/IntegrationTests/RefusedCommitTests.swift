import EventContract
import EventLoop
import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

/// Finished requests that cannot be committed are repeated after a crash, including billed calls. So no new requests begin meanwhile.
@Suite(.serialized, .enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
struct RefusedCommitTests {
    /// Brokers' answers of a temporary and of a permanent kind.
    private static let (rebalanceInProgress, groupAuthorizationFailed): (Int32, Int32) = (27, 30)
    private static let count = 400

    /// A worker with at most 200 calls a second, four at a time, and requests that share no calls.
    private func fixture(assignor: String? = nil) async throws -> WorkerFixture {
        let fixture = try WorkerFixture(session: 3000, assignor: assignor) { _ in
            .init(body: WorkerFixture.shop, delay: .milliseconds(20))
        }
        fixture.broker.embedded?.setGroupDelay(.milliseconds(200))
        let values = (0..<Self.count).map { ("r\($0)", WorkerFixture.request("r\($0)", #","keyword":"k\#($0)""#)) }
        try await fixture.send(values)
        return fixture
    }

    private func settings(_ configuration: inout WorkerConfiguration) {
        configuration.concurrency = 4
        configuration.commitInterval = .milliseconds(500)
        configuration.shutdownGrace = .seconds(1)
        // Without crash notes, the first requests of an assignment begin before anything is committed.
        configuration.doneSetBytes = 0
    }

    private func refuse(at fixture: WorkerFixture, with code: Int32 = rebalanceInProgress) {
        fixture.broker.embedded?.fail(.offsetCommit, with: code, count: 100_000)
    }

    private func accept(at fixture: WorkerFixture) { fixture.broker.embedded?.clearFailures(of: .offsetCommit) }

    /// Waits until no more requests begin.
    /// - Returns: the number of requests that began.
    private func stopped(_ lane: WorkerLane, _ fixture: WorkerFixture, after begun: Int = 0) async throws -> Int {
        try await eventually("nothing begins any more", within: .seconds(40)) {
            let status = await lane.status
            return fixture.provider.targets.count > begun && status.inFlight == 0
                && (status.delivery.commitOverdue ?? .zero) > .milliseconds(300)
        }
        return fixture.provider.targets.count
    }

    @Test func `A worker begins no request while commits are rejected`() async throws {
        let fixture = try await fixture()
        refuse(at: fixture)
        let outcomes = try await fixture.whileWorking(settings) { lane in
            let begun = try await stopped(lane, fixture)
            // A commit interval at full speed, the requests in flight before it, and those in flight after it.
            #expect(begun <= 100 + 4 + 4)
            try await eventually("it lasts") { (await lane.status.delivery.commitOverdue ?? .zero) > .seconds(2) }
            #expect(fixture.provider.targets.count == begun)
            accept(at: fixture)
            return try await fixture.outcomes { $0.count >= Self.count }
        }
        #expect(Set(try outcomes.map { try $0.outcome().requestID }).count == Self.count)
        #expect(try await fixture.contents(of: fixture.outcomeTopics).count == Self.count)
        #expect(fixture.provider.targets.count == Self.count)
        await fixture.stop()
    }

    /// The ways to end a worker.
    enum End: CaseIterable {
        case drain, cancellation
    }

    @Test(.timeLimit(.minutes(2)), arguments: zip([rebalanceInProgress, groupAuthorizationFailed], End.allCases))
    func `A worker ends although its commits are rejected`(code: Int32, by end: End) async throws {
        let fixture = try await fixture()
        refuse(at: fixture, with: code)
        let loop = try EventLoop()
        let lane = try fixture.lane(on: loop) { settings(&$0) }
        let working = Task { try await lane.run() }
        let begun = try await stopped(lane, fixture)
        switch end {
        case .drain: await lane.drain()
        case .cancellation: working.cancel()
        }
        try await working.value
        loop.stop()
        #expect(fixture.provider.targets.count == begun)
        #expect(try await fixture.contents(of: fixture.outcomeTopics).count == begun)
        await fixture.stop()
    }

    /// A drain during a rebalance, as when all workers are replaced one after another.
    @Test func `A drain repeats a commit until its grace ends`() async throws {
        let fixture = try await fixture()
        refuse(at: fixture)
        let begun = try await fixture.whileWorking {
            settings(&$0)
            $0.shutdownGrace = .seconds(60)
        } _: { lane in
            let begun = try await stopped(lane, fixture)
            await lane.drain()
            accept(at: fixture)
            return begun
        }
        // The next worker repeats nothing.
        let outcomes = try await fixture.run(expecting: Self.count)
        #expect(outcomes.count == Self.count)
        #expect(begun < Self.count)
        #expect(fixture.provider.targets.count == Self.count)
        await fixture.stop()
    }

    /// The lanes of a process end at different times. The embedded coordinator rejects commits during a rebalance, which begins as
    /// soon as one of the lanes has left.
    @Test func `Lanes of a process leave the group after all have committed`() async throws {
        let fixture = try WorkerFixture(session: 3000) { target in
            .init(body: WorkerFixture.shop, delay: .milliseconds(target.contains("slow") ? 900 : 0))
        }
        fixture.broker.embedded?.setGroupDelay(.milliseconds(200))
        let departure = DepartureBarrier(lanes: 2)
        let loops = [try EventLoop(), try EventLoop()]
        let lanes = try loops.map { loop in
            try fixture.lane(on: loop, departure: departure) {
                // No commit before the end.
                $0.commitInterval = .seconds(60)
            }
        }
        let working = lanes.map { lane in Task { try await lane.run() } }
        try await eventually("each lane has two partitions", within: .seconds(60)) {
            for lane in lanes where await lane.status.positions.count != 2 { return false }
            return true
        }
        // Enough for all partitions.
        let values = (0..<40).map { ("r\($0)", WorkerFixture.request("r\($0)", #","keyword":"k\#($0)""#)) }
        try await fixture.send(values)
        _ = try await fixture.outcomes { $0.count >= 40 }
        try await fixture.send([("slow", WorkerFixture.request("slow", #","keyword":"slow""#))])
        try await eventually("the last is being asked for") { fixture.provider.targets.count == 41 }
        for lane in lanes { await lane.drain() }
        for task in working { try await task.value }
        for loop in loops { loop.stop() }
        // The next worker repeats nothing.
        try await fixture.send(values)
        try await fixture.whileWorking { try await fixture.allIsCommitted(by: $0) }
        #expect(fixture.provider.targets.count == 81)
        #expect(try await fixture.contents(of: fixture.outcomeTopics).count == 81)
        await fixture.stop()
    }

    /// Lost partitions have another owner, so there is nothing to wait for.
    @Test func `A lost partition delays no request`() async throws {
        let fixture = try await fixture()
        refuse(at: fixture)
        try await fixture.whileWorking(settings) { lane in
            let begun = try await stopped(lane, fixture)
            fixture.broker.embedded?.fail(.heartbeat, with: 25)  // UNKNOWN_MEMBER_ID
            _ = try await stopped(lane, fixture, after: begun)
        }
        await fixture.stop()
    }

    @Test func `A revoked partition delays no request`() async throws {
        // Revokes all partitions, including those that are assigned again.
        let fixture = try await fixture(assignor: "range")
        refuse(at: fixture)
        try await fixture.whileWorking(settings) { lane in
            let begun = try await stopped(lane, fixture)
            let (other, listener) = (try fixture.member(of: fixture.broker.name("workers")), WorkerFixture.Silent())
            try await other.subscribe(to: [fixture.topics.requests], listener: listener)
            _ = try await stopped(lane, fixture, after: begun)
            await other.close()
        }
        await fixture.stop()
    }

    /// Metrics and logs show overdue commits, and what to do.
    @Test(.timeLimit(.minutes(2))) func `Overdue commits are reported`() async throws {
        try await WorkerHarness.run { harness in
            harness.broker.fail(.offsetCommit, with: 30, count: 100_000)
            try await harness.send([WorkerHarness.request("a", "hotpepper")])
            try await eventually("the worker is not ready") { try await harness.get("/readyz").status == 503 }
            #expect(try await harness.get("/readyz").body == "offsets are not committed\n")
            #expect(try await harness.get("/status").body.contains(#""commitOverdueSeconds":"#))
            #expect(try await harness.metric("locsearch_commit_overdue_seconds") > 0)
            #expect(try await harness.metric("locsearch_commits_failed_total") > 0)
            try await eventually("the log says so") {
                harness.logLines(with: "offsets cannot be committed", "GROUP_AUTHORIZATION_FAILED") == 1
            }
            harness.broker.clearFailures(of: .offsetCommit)
            _ = try await harness.outcomes(1)
            try await eventually("the worker is ready again") { try await harness.get("/readyz").status == 200 }
            try await eventually("nothing is overdue") {
                try await harness.metric("locsearch_commit_overdue_seconds") == 0
            }
            try await eventually("the log says so") { harness.logLines(with: "commits succeed again") == 1 }
            #expect(harness.logLines(with: "offsets cannot be committed") == 1)
        }
    }
}
