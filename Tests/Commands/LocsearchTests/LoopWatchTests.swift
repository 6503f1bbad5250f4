import Basics
import Dispatch
import EventLoop
import Foundation
import HTTPServing
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

    private let time = VirtualTime()
    /// Runs its jobs only when a test lets it.
    private let loop = VirtualTime()

    private func watch(_ loops: [any TaskExecutor]) -> LoopWatch {
        let watch = LoopWatch(loops, clock: time, log: .silent)
        Task(executorPreference: time) { await watch.run() }
        return watch
    }

    @Test func `The liveness probe names a stuck loop until it continues`() {
        let watch = watch([time, loop])
        time.run(for: .seconds(10))
        #expect(watch.problem == nil)
        time.run(for: .seconds(1))
        #expect(watch.problem == "event loop 1 has been blocked for 10s")

        loop.settle()
        #expect(watch.problem == nil)
    }

    @Test func `An idle loop is not stuck`() {
        let watch = watch([loop])
        for _ in 0..<100 {
            time.run(for: .seconds(1))
            loop.settle()
            #expect(watch.problem == nil)
        }
        #expect(loop.jobCount >= 100, "it has run a job in each interval")
    }

    /// A process that was frozen is alive as soon as it goes on, even if its loops have not run a job yet.
    @Test func `A standstill of the process is not one of its loops`() {
        let watch = watch([loop])
        time.run(for: .seconds(5))
        for _ in 0..<3 {
            time.freeze(for: .seconds(3600))
            time.run(for: .zero)
            #expect(watch.problem == nil)
        }

        time.run(for: .seconds(3))
        #expect(watch.problem != nil, "the intervals before the standstill count")
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
        #expect(await status.readiness() == .notReady("starting"))

        let blockade = Blockade(of: worker.loops[0])
        defer { blockade.release() }
        try await eventually("the process is not alive") { await status.livenessProblem() != nil }
        #expect(await status.readiness() == .notReady("an event loop does not respond"))
        #expect(await status.metrics(asOpenMetrics: false).contains("locsearch_build_info"))
        #expect(await status.status().contains(#""notReady":"an event loop does not respond""#))
    }
}
