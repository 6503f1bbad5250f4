import Basics
import Dispatch
import EventLoop
import Foundation
import Kafka
import Observability
import TestSupport
import Testing

@testable import locsearch

/// `/livez` detects a blocked event loop, and no endpoint waits for one.
struct LoopWatchTests {

    /// Blocks a loop's thread until `release`.
    private struct Blockade {
        private let gate = DispatchSemaphore(value: 0)

        init(of loop: EventLoop) {
            let gate = gate
            Task(executorPreference: loop) { Self.wait(at: gate) }
        }

        private static func wait(at gate: DispatchSemaphore) { gate.wait() }

        func release() { gate.signal() }
    }

    @Test func `The liveness probe names a stuck loop until it continues`() async throws {
        let loops = [try EventLoop(), try EventLoop()]
        defer { for loop in loops { loop.stop() } }
        let watch = LoopWatch(loops, timeout: .milliseconds(200), interval: .milliseconds(20), log: .silent)
        let watching = Task { await watch.run() }
        defer { watching.cancel() }

        let blockade = Blockade(of: loops[1])
        try await eventually("the watch names the loop") { watch.problem?.contains("event loop 1 ") == true }

        blockade.release()
        try await eventually("nothing is wrong any more") { watch.problem == nil }
    }

    @Test func `An idle loop is not stuck`() async throws {
        let loop = try EventLoop()
        defer { loop.stop() }
        // A busy machine may delay the loop's job for a while, which must not count.
        let watch = LoopWatch([loop], timeout: .seconds(1), interval: .milliseconds(20), log: .silent)
        let watching = Task { await watch.run() }
        defer { watching.cancel() }

        let end = Instant.now + .seconds(2)
        while Instant.now < end {
            #expect(watch.problem == nil)
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test(.timeLimit(.minutes(1))) func `Every endpoint answers while a loop is stuck`() async throws {
        let broker = try EmbeddedBroker(topics: ["location-search.requests": 1])
        let settings = try Settings.load(
            flags: ["kafka.bootstrapServers": broker.bootstrapServers, "hotpepper.apiKey": "any text"], file: nil,
            environment: [:])
        let worker = try await WorkerProcess(settings, log: .silent)
        defer { worker.stopLoops() }
        let watch = LoopWatch(worker.loops, timeout: .milliseconds(200), interval: .milliseconds(20), log: .silent)
        let watching = Task { await watch.run() }
        defer { watching.cancel() }
        let status = WorkerStatus(worker: worker, watch: watch, registry: MetricsRegistry())
        #expect(await status.livenessProblem() == nil)
        #expect(await status.readinessProblem() == "starting")

        let blockade = Blockade(of: worker.loops[0])
        defer { blockade.release() }
        try await eventually("the process is not alive") { await status.livenessProblem() != nil }
        #expect(await status.readinessProblem() == "an event loop does not respond")
        #expect(await status.metrics().contains("locsearch_build_info"))
        #expect(await status.status().contains(#""notReady":"an event loop does not respond""#))
    }
}
