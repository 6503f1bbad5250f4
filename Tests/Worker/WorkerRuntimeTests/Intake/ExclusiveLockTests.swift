import TestSupport
import Testing

@testable import WorkerRuntime

/// The lock of a lane that runs one record alone in its process.
struct ExclusiveLockTests {
    /// A worker with several loops has one process, which a record of another lane can crash too.
    @Test func `Other lanes of the process begin no request meanwhile`() async throws {
        let turn = ExclusiveLock()
        let other = turn.add { true }
        try await LaneFixture.run(exclusiveLock: turn) { fixture in
            try await fixture.commitsFirstRequest()
            #expect(turn.take(for: other))
            await fixture.source.append([LaneFixture.request("a")])
            try await eventually("it is read") { await fixture.source.unreadCount == 0 }
            for _ in 0..<50 { _ = await fixture.lane.status }
            #expect(await fixture.provider.asked == ["first"])

            turn.end(of: other)
            try await fixture.isCommitted(upTo: 2)
        }
    }

    @Test func `One lane at a time has the lock`() async {
        let turn = ExclusiveLock()
        let (first, second) = (turn.add { true }, turn.add { false })
        #expect(turn.take(for: first))
        #expect(!turn.take(for: second))
        #expect(turn.isTaken(besides: second))
        #expect(!turn.isTaken(besides: first))
        #expect(await !turn.isQuiet(besides: first))
        #expect(await turn.isQuiet(besides: second))

        turn.end(of: second)
        #expect(turn.isTaken(besides: second), "a turn ends by the lane that has it")
        turn.end(of: first)
        #expect(turn.take(for: second))
    }
}
