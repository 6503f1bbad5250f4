import EventContract
import Kafka
import TestSupport
import Testing
import WorkerRuntime

/// The header `request-steps` of a lane's outcomes. The lane's fake provider makes no calls: their steps are tested with `SearchWorker`.
struct RequestStepsHeaderTests {
    private func header(of value: String, isOn: Bool) async throws -> String? {
        var header: String?
        try await LaneFixture.run({ $0.requestSteps = isOn }) { fixture in
            await fixture.source.append([value], timestamp: 0)
            try await eventually("the outcome is written") {
                let outcome = await fixture.sink.written.first { $0.topic != "dead-letters" }
                header = outcome?.headers.last(named: "request-steps")?.text
                return outcome != nil
            }
        }
        return header
    }

    @Test(arguments: [LaneFixture.request("a"), "{}"])
    func `An outcome says how long its request waited`(value: String) async throws {
        let header = try #require(await header(of: value, isOn: true))
        let wait = try #require(OutcomeEvent.Steps(text: Array(header.utf8)).topicWait)
        #expect(wait > .seconds(86_400), "since 1970")
    }

    @Test func `The header is absent if it is disabled`() async throws {
        #expect(try await header(of: LaneFixture.request("a"), isOn: false) == nil)
    }
}
