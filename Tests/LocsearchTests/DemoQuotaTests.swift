import TestSupport
import Testing

/// What the requests that the demo shows leave behind: nothing, so that whoever tries it out finds every provider usable.
struct DemoQuotaTests {
    @Test(.timeLimit(.minutes(6))) func everyProviderAnswersAfterTheDemosOwnRequests() async throws {
        let demo = try RunningProgram(["demo"])
        defer { demo.end() }
        try await eventually("the demo is up", within: .seconds(120)) { demo.output.contains("Everything stays up") }
        #expect(demo.output.contains("quota used up"))
        let line = try #require(demo.output.split(separator: "\n").first { $0.hasPrefix("broker ") })
        let broker = String(try #require(line.split(separator: " ").dropFirst().first))

        for provider in ["google-places-legacy", "google-places", "hotpepper"] {
            let search = try RunningProgram([
                "search", "--lat", "35.69", "--lng", "139.70", "--provider", provider, "--timeout", "40s",
                "--kafka-bootstrap-servers", broker,
            ])
            defer { search.end() }
            try await eventually("the search ends", within: .seconds(60)) { !search.isRunning }
            #expect(search.code == 0, "\(provider): \(search.output)\(search.error)")
        }
    }
}
