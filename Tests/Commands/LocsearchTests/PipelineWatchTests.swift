import EventLoop
import HTTPTransport
import TestSupport
import Testing

@testable import Console
@testable import locsearch

/// A console polls workers only while a page is open.
struct PipelineWatchTests {
    @Test func `A report has no workers once the last page is closed`() async throws {
        let worker = try RawServer { $0.answerAll(#"{"ready":false,"notReady":"no broker answers"}"#) }
        defer { worker.stop() }
        let settings = try Settings.load(flags: ["console.workers": worker.url], file: nil, environment: [:])
        let loop = try EventLoop()
        let http = HTTPTransport(loop: loop, configuration: settings.adminHTTP)
        let pipeline = Pipeline()
        let poll = WorkerPoll(settings, token: WorkerToken(nil), http: http)
        let watch = PipelineWatch(pipeline: pipeline, traffic: Traffic(), poll: poll)
        let watching = Task { await watch.askWorkers() }

        let page = Task { for await _ in pipeline.changes() {} }
        try await eventually("the worker is polled") { pipeline.report.verdict == .workersNotReady }
        page.cancel()
        // Else its last state would decide about `locsearch_group_work_off_seconds`.
        try await eventually("the report has no workers") { pipeline.report.workers == nil }

        watching.cancel()
        await watching.value
        await http.shutdown()
        loop.stop()
    }
}
