import Basics
import Kafka
import Resilience
import SimulatedLoop
import Testing
import WorkerRuntime

/// A whole lane under virtual time: no job leaves its loop, and its schedule follows from the seed.
@Suite struct SimulatedLaneTests {
    private static let count = 100

    private func run(seed: UInt64, _ delivery: WorkerConfiguration.Delivery, rate: RateLimit? = nil) throws
        -> SimulatedLaneFixture
    {
        let fixture = SimulatedLaneFixture(seed: seed, requests: Self.count, delivery: delivery, rate: rate)
        try fixture.run(outcomes: Self.count)
        return fixture
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `Lane serves every request once and commits`(delivery: WorkerConfiguration.Delivery) throws {
        for seed in UInt64(1)...5 {
            let fixture = try run(seed: seed, delivery)
            #expect(fixture.sink.topics.count == Self.count)
            #expect(fixture.source.committed == Int64(Self.count))
            #expect(fixture.provider.calls.count > Self.count, "calls that failed were made again")
        }
    }

    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `Same seed gives the same run`(delivery: WorkerConfiguration.Delivery) throws {
        let runs = try [1, 1, 2].map { try run(seed: $0, delivery) }
        #expect(runs[0].simulation.digest == runs[1].simulation.digest)
        #expect(runs[0].provider.calls == runs[1].provider.calls)
        #expect(runs[0].simulation.digest != runs[2].simulation.digest)
    }

    /// While brokers still write the markers of a transaction, they reject the partitions of the next one,
    /// and librdkafka then waits for longer.
    @Test func `Transaction begins a moment after the one before is committed`() throws {
        for seed in UInt64(1)...5 {
            let (begins, commits) = try run(seed: seed, .exactlyOnce).sink.transactions
            #expect(commits.count == begins.count && commits.count > 3)
            // The last one may follow at once: the lane is draining.
            let rests = zip(commits, begins.dropFirst()).dropLast().map { $1 - $0 }
            #expect(rests.allSatisfy { $0 >= .milliseconds(5) }, "\(rests)")
        }
    }

    /// librdkafka may wait for an answer that never comes; each call has a time limit.
    @Test(arguments: HarnessSink.End.allCases)
    func `End of a transaction that is never answered is left to another producer`(end: HarnessSink.End) throws {
        let fixture = SimulatedLaneFixture(seed: 1, requests: 20, delivery: .exactlyOnce, silence: end)
        fixture.simulation.spawn(on: fixture.loop) { [lane = fixture.lane] in try? await lane.run() }
        try fixture.simulation.run(for: .seconds(600), while: { fixture.nextSink.transactions.commits.isEmpty })
        #expect(fixture.simulation.elapsed < .seconds(45))
        #expect(fixture.simulation.elapsed > .seconds(20), "another broker may become the coordinator meanwhile")

        try fixture.simulation.run(for: .seconds(60), while: { fixture.nextSink.confirmed < 20 })
        #expect(fixture.nextSink.confirmed == 20)
        try fixture.end()
        #expect(fixture.provider.calls.count < 30, "providers are not asked again")
    }

    /// A reader that always finds records never lets another job run.
    @Test func `Nothing more is read of a partition whose records are held`() throws {
        let fixture = SimulatedLaneFixture(seed: 1, requests: 1000, delivery: .atLeastOnce, isFetched: true)
        try fixture.run(outcomes: 1000)
        let read = try #require(fixture.source.readAtFirstCommit)
        #expect(read <= 64, "one read, whose records wait for the note that is committed first")
    }

    @Test func `Rate of calls is kept in virtual time`() throws {
        let fixture = try run(seed: 3, .atLeastOnce, rate: RateLimit(perSecond: 25, burst: 5))
        let calls = fixture.provider.calls

        for (index, start) in calls.enumerated() {
            let end = start + .seconds(1)
            #expect(calls[index...].count { $0 < end } <= 30)
        }
        // At least as long as the calls beyond the burst need.
        #expect(fixture.simulation.elapsed > .seconds(Double(calls.count - 6) / 25))
    }
}
