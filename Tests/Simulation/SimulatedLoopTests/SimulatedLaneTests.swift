import Basics
import SimulatedLoop
import Testing

/// Transactions of a whole lane under virtual time. `FleetSimulationTests` runs lanes in fleets.
@Suite struct SimulatedLaneTests {
    /// While brokers still write the markers of a transaction, they reject the partitions of the next one,
    /// and librdkafka then waits for longer.
    @Test func `A transaction begins a moment after the previous one is committed`() throws {
        for seed in UInt64(1)...5 {
            let fixture = SimulatedLaneFixture(seed: seed, requests: 100)
            try fixture.run(until: { fixture.sink.confirmed == 100 })
            try fixture.end()
            let (begins, commits) = fixture.sink.transactions
            #expect(commits.count == begins.count && commits.count > 3)
            // The last one may follow at once: the lane is draining.
            let rests = zip(commits, begins.dropFirst()).dropLast().map { $1 - $0 }
            #expect(rests.allSatisfy { $0 >= .milliseconds(1) }, "\(rests)")
        }
    }

    /// librdkafka may wait for an answer that never comes; each call has a time limit.
    @Test(arguments: HarnessSink.End.allCases)
    func `A transaction whose end is never answered is left to another producer`(end: HarnessSink.End) throws {
        let fixture = SimulatedLaneFixture(seed: 1, requests: 20, silence: end)
        try fixture.run(until: { !fixture.nextSink.transactions.commits.isEmpty })
        #expect(fixture.simulation.elapsed < .seconds(45))
        #expect(fixture.simulation.elapsed > .seconds(20), "another broker may become the coordinator meanwhile")

        try fixture.simulation.run(for: .seconds(60), while: { fixture.nextSink.confirmed < 20 })
        #expect(fixture.nextSink.confirmed == 20)
        try fixture.end()
        #expect(fixture.provider.calls == 20, "providers are not asked again")
    }
}
