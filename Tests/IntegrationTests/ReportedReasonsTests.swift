import Foundation
import TestSupport
import Testing

/// What a worker logs about things that an operator would otherwise only see the effects of.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct ReportedReasonsTests {
    @Test func `An ignored priority is logged once for each class`() async throws {
        try await WorkerHarness.run { harness in
            try await harness.send(WorkerHarness.requests("batch", 3, "hotpepper", #","priority":"batch""#))
            try await harness.send(WorkerHarness.requests("same", 1, "hotpepper", #","priority":"interactive""#))
            try await harness.send(WorkerHarness.requests("other", 2, "hotpepper", #","priority":"urgent""#))
            #expect(try await harness.outcomes(6).values.allSatisfy { $0.places != nil })
            #expect(try await harness.awaitedLogLines(with: "the priority of requests is ignored", #""batch""#) == 1)
            #expect(try await harness.awaitedLogLines(with: "the priority of requests is ignored", "unknown") == 1)
            #expect(harness.logLines(with: "the priority of requests is ignored") == 2)
        }
    }

    /// The worker is killed, which is no crash, while it has a request in flight.
    @Test func `Small steps after a killed worker are explained`() async throws {
        try await WorkerHarness.run { harness in
            try await harness.configureProviders(#"{"latency":"20s"}"#)
            try await harness.send(WorkerHarness.requests("open", 4, "hotpepper", #","timeoutMs":30000"#))
            try await eventually("the calls are made") { try await harness.calls(to: "hotpepper") == 4 }
            harness.worker.signal(SIGKILL)
            try await eventually("the worker ends") { !harness.worker.isRunning }
            let second = try RunningProgram(["worker"], environment: harness.environment)
            defer { second.end() }
            try await eventually("the next one tells why it is slow", within: .seconds(40)) {
                second.error.contains("requests of these partitions begin in small steps at first")
            }
            #expect(second.error.contains("was killed or frozen"))
        }
    }
}
