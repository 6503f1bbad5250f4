import Testing

@testable import WorkerRuntime

/// The batches of transactions.
struct ReadyOutcomesTests {
    /// Otherwise the lane would look for a batch every millisecond, for as long as the topic refuses its records.
    @Test func `No batch follows if a topic refuses all outcomes`() async throws {
        try await TableFixture.run(doneSetBytes: 100) { fixture in
            let requests = try fixture.takeAll(0..<Int64(WorkerConfiguration.largestTransaction))
            let ready = ReadyOutcomes()
            for request in requests {
                ready.add(request)
                request.partition.commits.tracker.markReady(request.slot)
            }
            let refused = ready.nextBatch(
                of: fixture.table.all, inOrder: false, isRefusing: { _ in false }, mayRetry: { _ in false })
            #expect(refused.entries.count == requests.count)
            for entry in refused.entries { entry.refusingTopic = "results" }

            let next = ready.nextBatch(
                of: fixture.table.all, inOrder: false, isRefusing: { _ in true }, mayRetry: { _ in false })
            #expect(next.entries.isEmpty)
            #expect(!next.hasMore)
        }
    }
}
