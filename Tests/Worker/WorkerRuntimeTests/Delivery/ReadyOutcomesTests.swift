import EventContract
import EventLoop
import Synchronization
import TestSupport
import Testing

@testable import Kafka
@testable import WorkerRuntime

/// The selection of outcomes for the next transaction.
struct ReadyOutcomesTests {
    @Test func `Transaction commits offsets of the unbroken run only`() async throws {
        try await LaneFixture.run(delivery: .exactlyOnce) { fixture in
            await fixture.source.append(["a", "b"].map(LaneFixture.request))
            try await fixture.outcomesAreWritten(["a", "b"])
            try await eventually("the offsets are part of it") {
                await fixture.sink.transactionOffsets.mapValues(\.offset) == [TopicPartition("requests", 0): 2]
            }
            try await fixture.isCommitted(upTo: 2)
        }
    }
}
