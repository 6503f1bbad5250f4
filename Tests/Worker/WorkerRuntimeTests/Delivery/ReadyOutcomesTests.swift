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

    /// If the topic blocked intake, the first request could not begin. If the metadata cannot mark later ones as done, no outcome
    /// could leave before it ends, so the topic would not be tried again.
    @Test(arguments: [(metadata: 0, isRefused: false), (metadata: 100, isRefused: true)])
    func `A topic does not block a request that outcomes wait for`(metadata: Int, isRefused: Bool) async throws {
        try await TableFixture.run(doneSetBytes: metadata) { fixture in
            let requests = try fixture.takeAll(0..<3)
            // The first one has not begun.
            requests[0].partition.remove(requests[0])
            let ready = ReadyOutcomes()
            for request in requests.dropFirst() {
                ready.add(request).refusingTopic = "results"
                request.partition.commits.tracker.markReady(request.slot)
            }
            let batch = ready.nextBatch(
                of: fixture.table.all, inOrder: false, isRefusing: { _ in false }, mayRetry: { _ in false })
            #expect(batch.entries.count == (isRefused ? 2 : 0))
            #expect(ready.isRefused(by: "results") == isRefused)
            #expect(!ready.isRefused(by: "errors"))

            requests[0].partition.add(requests[0])
            #expect(ready.isRefused(by: "results"))
        }
    }
}
