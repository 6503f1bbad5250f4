import EventContract
import EventLoop
import Kafka
import TestSupport
import Testing
import WorkerRuntime

/// What is finished and cannot be committed is repeated after a crash, paid calls and all: so nothing new begins then.
@Suite(.serialized, .enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
struct RefusedCommitTests {
    /// What brokers answer for seconds, and for good.
    private static let (rebalanceInProgress, groupAuthorizationFailed): (Int32, Int32) = (27, 30)
    private static let count = 400

    /// A worker that asks at most 200 times a second, four at a time, with requests that nobody can share.
    private func bench(assignor: String? = nil) async throws -> WorkerBench {
        let bench = try WorkerBench(session: 3000, assignor: assignor) { _ in
            .init(body: WorkerBench.shop, delay: .milliseconds(20))
        }
        bench.broker.embedded?.setGroupDelay(.milliseconds(200))
        let values = (0..<Self.count).map { ("r\($0)", WorkerBench.request("r\($0)", #","keyword":"k\#($0)""#)) }
        try await bench.send(values)
        return bench
    }

    private func settings(_ configuration: inout WorkerConfiguration) {
        configuration.concurrency = 4
        configuration.commitInterval = .milliseconds(500)
        configuration.shutdownGrace = .seconds(1)
    }

    private func refuse(at bench: WorkerBench, with code: Int32 = rebalanceInProgress) {
        bench.broker.embedded?.fail(.offsetCommit, with: code, count: 100_000)
    }

    private func accept(at bench: WorkerBench) { bench.broker.embedded?.clearFailures(of: .offsetCommit) }

    /// Waits until nothing begins any more.
    /// - Returns: how many requests did.
    private func stopped(_ lane: WorkerLane, _ bench: WorkerBench, after begun: Int = 0) async throws -> Int {
        try await eventually("nothing begins any more", within: .seconds(40)) {
            let status = await lane.status
            return bench.provider.targets.count > begun && status.inFlight == 0
                && (status.commitOverdue ?? .zero) > .milliseconds(300)
        }
        return bench.provider.targets.count
    }

    @Test func workerBeginsNothingWhileCommitsAreRefused() async throws {
        let bench = try await bench()
        refuse(at: bench)
        let outcomes = try await bench.whileWorking(settings) { lane in
            let begun = try await stopped(lane, bench)
            // An interval of them at full speed, what was in flight before it, and what was in flight behind it.
            #expect(begun <= 100 + 4 + 4)
            try await eventually("it lasts") { (await lane.status.commitOverdue ?? .zero) > .seconds(2) }
            #expect(bench.provider.targets.count == begun)
            accept(at: bench)
            return try await bench.outcomes { $0.count >= Self.count }
        }
        #expect(Set(try outcomes.map { try $0.outcome().requestID }).count == Self.count)
        #expect(try await bench.contents(of: bench.outcomeTopics).count == Self.count)
        #expect(bench.provider.targets.count == Self.count)
        await bench.stop()
    }

    /// How a worker is told to end.
    enum End: CaseIterable {
        case drain, cancellation
    }

    @Test(.timeLimit(.minutes(2)), arguments: zip([rebalanceInProgress, groupAuthorizationFailed], End.allCases))
    func workerThatBrokersDoNotHearEndsAllTheSame(code: Int32, by end: End) async throws {
        let bench = try await bench()
        refuse(at: bench, with: code)
        let loop = try EventLoop()
        let lane = try bench.lane(on: loop) { settings(&$0) }
        let working = Task { try await lane.run() }
        let begun = try await stopped(lane, bench)
        switch end {
        case .drain: await lane.drain()
        case .cancellation: working.cancel()
        }
        try await working.value
        loop.stop()
        #expect(bench.provider.targets.count == begun)
        #expect(try await bench.contents(of: bench.outcomeTopics).count == begun)
        await bench.stop()
    }

    /// A drain that meets a group that forms, as when all workers are replaced one after another.
    @Test func drainRepeatsACommitUntilItsGraceIsOver() async throws {
        let bench = try await bench()
        refuse(at: bench)
        let loop = try EventLoop()
        let lane = try bench.lane(on: loop) {
            settings(&$0)
            $0.shutdownGrace = .seconds(60)
        }
        let working = Task { try await lane.run() }
        let begun = try await stopped(lane, bench)
        await lane.drain()
        accept(at: bench)
        try await working.value
        loop.stop()
        // Who comes next repeats nothing.
        let outcomes = try await bench.run(expecting: Self.count)
        #expect(outcomes.count == Self.count)
        #expect(begun < Self.count)
        #expect(bench.provider.targets.count == Self.count)
        await bench.stop()
    }

    /// The lanes of a process end at different times. The embedded coordinator refuses a commit while the group forms
    /// anew, as it does as soon as one of them has left.
    @Test func lanesOfOneProcessLeaveOnceAllHaveCommitted() async throws {
        let bench = try WorkerBench(session: 3000) { target in
            .init(body: WorkerBench.shop, delay: .milliseconds(target.contains("slow") ? 900 : 0))
        }
        bench.broker.embedded?.setGroupDelay(.milliseconds(200))
        let departure = DepartureBarrier(lanes: 2)
        let loops = [try EventLoop(), try EventLoop()]
        let lanes = try loops.map { loop in
            try bench.lane(on: loop, departure: departure) {
                // Nothing is committed before the end.
                $0.commitInterval = .seconds(60)
            }
        }
        let working = lanes.map { lane in Task { try await lane.run() } }
        try await eventually("each lane has two partitions", within: .seconds(30)) {
            for lane in lanes where await lane.status.positions.count != 2 { return false }
            return true
        }
        // Enough for all partitions.
        let values = (0..<40).map { ("r\($0)", WorkerBench.request("r\($0)", #","keyword":"k\#($0)""#)) }
        try await bench.send(values)
        _ = try await bench.outcomes { $0.count >= 40 }
        try await bench.send([("slow", WorkerBench.request("slow", #","keyword":"slow""#))])
        try await eventually("the last is being asked for") { bench.provider.targets.count == 41 }
        for lane in lanes { await lane.drain() }
        for task in working { try await task.value }
        for loop in loops { loop.stop() }
        // Who comes next repeats nothing.
        try await bench.send(values)
        try await bench.whileWorking { try await bench.allIsCommitted(by: $0) }
        #expect(bench.provider.targets.count == 81)
        #expect(try await bench.contents(of: bench.outcomeTopics).count == 81)
        await bench.stop()
    }

    /// What is lost is another's to do: there is nothing left to wait for.
    @Test func lostPartitionHoldsNothingUp() async throws {
        let bench = try await bench()
        refuse(at: bench)
        try await bench.whileWorking(settings) { lane in
            let begun = try await stopped(lane, bench)
            bench.broker.embedded?.fail(.heartbeat, with: 25)  // UNKNOWN_MEMBER_ID
            _ = try await stopped(lane, bench, after: begun)
        }
        await bench.stop()
    }

    @Test func revokedPartitionHoldsNothingUp() async throws {
        // Takes back all partitions, those too that come back.
        let bench = try await bench(assignor: "range")
        refuse(at: bench)
        try await bench.whileWorking(settings) { lane in
            let begun = try await stopped(lane, bench)
            let (other, listener) = (try bench.member(of: bench.broker.name("workers")), WorkerBench.Silent())
            try await other.subscribe(to: [bench.topics.requests], listener: listener)
            _ = try await stopped(lane, bench, after: begun)
            await other.close()
        }
        await bench.stop()
    }

    /// Whoever watches the worker sees it, and reads what to do.
    @Test(.timeLimit(.minutes(2))) func overdueCommitsAreSeenFromOutside() async throws {
        try await WorkerHouse.run { house in
            house.broker.fail(.offsetCommit, with: 30, count: 100_000)
            try await house.send([WorkerHouse.request("a", "hotpepper")])
            _ = try await house.outcomes(1)
            try await eventually("the worker is not ready") { try await house.get("/readyz").status == 503 }
            #expect(try await house.get("/readyz").body == "offsets are not committed\n")
            #expect(try await house.get("/status").body.contains(#""commitOverdueSeconds":"#))
            #expect(try await house.metric("locsearch_commit_overdue_seconds") > 0)
            #expect(try await house.metric("locsearch_commits_failed_total") > 0)
            try await eventually("the log says so") {
                house.logLines(with: "offsets cannot be committed", "GROUP_AUTHORIZATION_FAILED") == 1
            }
            house.broker.clearFailures(of: .offsetCommit)
            try await eventually("the worker is ready again") { try await house.get("/readyz").status == 200 }
            try await eventually("nothing is overdue") {
                try await house.metric("locsearch_commit_overdue_seconds") == 0
            }
            try await eventually("the log says so") { house.logLines(with: "commits are in time again") == 1 }
            #expect(house.logLines(with: "offsets cannot be committed") == 1)
        }
    }
}
