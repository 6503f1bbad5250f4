import EventContract
import EventLoop
import Synchronization
import TestSupport
import Testing

@testable import Kafka
@testable import WorkerRuntime

/// Which outcomes go into the next transaction.
struct ReadyOutcomesTests {
    @Test func transactionCommitsOffsetsOfTheUnbrokenRunOnly() async throws {
        try await LaneBench.run(delivery: .exactlyOnce) { bench in
            await bench.source.append(["a", "b"].map(LaneBench.request))
            try await bench.outcomesAreWritten(["a", "b"])
            try await eventually("the offsets are part of it") {
                await bench.sink.transactionOffsets == [TopicPartition("requests", 0): 2]
            }
            try await bench.isCommitted(upTo: 2)
        }
    }
}
