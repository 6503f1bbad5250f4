import EventContract
import Foundation
internal import KafkaTestSupport
import LocationSearch
import TestSupport
import Testing

@testable import locsearch

/// `locsearch explain` as a process with a broker.
@Suite(.timeLimit(.minutes(3)))
struct ExplainCommandTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private static var steps: RequestSteps {
        var steps = RequestSteps(topicWait: .milliseconds(100))
        let failure = RequestStep.End.failed(.upstreamUnavailable, httpStatus: 503)
        steps.append(RequestStep(.call, .googlePlaces, end: failure, start: 0, duration: 154_000_000))
        steps.append(RequestStep(.pause, .googlePlaces, end: .over, start: 154_000_000, duration: 87_000_000))
        steps.append(RequestStep(.call, .googlePlaces, end: .answered, start: 241_000_000, duration: 228_000_000))
        return steps
    }

    private func expect(_ shown: RunningProgram, shows texts: [String]) {
        #expect(shown.code == 0, "\(shown.error)")
        for text in texts { #expect(shown.output.contains(text), "\(text): \(shown.output)") }
    }

    @Test func `An answered request is found by each of its ids`() async throws {
        let fixture = try await ExplainFixture()
        try await fixture.request("other", at: 0)
        let source = try await fixture.request("r-1", in: 1, trace: Self.trace)
        try await fixture.answer(source, id: "r-1", steps: Self.steps)
        try await fixture.answer(SourcePosition(topic: source.topic, partition: 0, offset: 0), id: "other")

        for id in ["r-1", Self.trace, source.description, Self.trace.uppercased()] {
            let shown = try await fixture.run([id], ["TRACING_UI_URL": "https://jaeger.example/trace/{traceId}"])
            #expect(shown.code == 0, "\(id): \(shown.error)")
            for words in [
                "request r-1: answered after 612ms with nothing found from google-places", "partition 1, offset 0",
                "from /shop", "waited in the topic",
                "called google-places: upstream-unavailable, HTTP 503",
                "paused before the next call to google-places", "called google-places: answered",
                "https://jaeger.example/trace/\(Self.trace)", "2 calls, 382ms at providers",
                "at most 0.07 USD for 2 calls of nearby-search-enterprise; list price after the free calls",
            ] { #expect(shown.output.contains(words), "\(id), \(words): \(shown.output)") }
            #expect(!shown.output.contains("other"), "\(shown.output)")
        }

        let whole = try await fixture.run(["r-1", "--record"], ["KAFKA_SECURITY_SASL_PASSWORD": ""])
        expect(whole, shows: ["header  ce_source: /shop", #""requestId":"r-1""#])

        let answer = try await fixture.run(["r-1", "--json"]).json()
        let request = try #require((answer["requests"] as? [[String: Any]])?.first)
        #expect(request["state"] as? String == "answered")
        #expect(request["totalMs"] as? Int == 612)
        let charges = try #require(request["charges"] as? [[String: Any]])
        #expect(charges.map { $0["costMicros"] as? Int } == [70_000])
        let phases = try #require(request["phases"] as? [[String: Any]])
        #expect(phases.map { $0["kind"] as? String } == ["topic", "call", "pause", "call", "worker", "publish"])
    }

    @Test func `Without steps, the output has the times and the setting for more`() async throws {
        let fixture = try await ExplainFixture()
        let source = try await fixture.request("r-1")
        let error = SearchError(.timeout, "the deadline passed")
        try await fixture.answer(source, id: "r-1", error: error)

        let shown = try await fixture.run(["r-1"])
        expect(shown, shows: ["failed after 612ms: timeout", "was in the worker", "worker.requestSteps=true"])
        #expect(!shown.output.contains("trace "), "\(shown.output)")
    }

    @Test func `An outcome describes a request whose record was deleted`() async throws {
        let fixture = try await ExplainFixture()
        let gone = SourcePosition(topic: fixture.broker.name("requests"), partition: 0, offset: 44)
        try await fixture.answer(gone, id: "r-9", steps: Self.steps)

        let shown = try await fixture.run(["r-9", "--record"])
        expect(shown, shows: ["offset 44, which the topic has deleted", "waited in the topic"])
    }

    @Test func `A request without an outcome is shown as waiting or finished`() async throws {
        let fixture = try await ExplainFixture()
        for id in ["a", "b", "c", "d"] { try await fixture.request(id) }
        try await fixture.commit(1)

        for (id, words) in [
            ("a", "workers have finished it, but its outcome was not found"),
            ("b", "it is the next one in partition 0"),
            ("d", "2 records before it"),
        ] {
            expect(try await fixture.run([id]), shows: [words])
        }
    }

    @Test func `A dead letter is shown with its redrive`() async throws {
        let fixture = try await ExplainFixture()
        let broken = #"{"requestId":"r-5"}"#
        let first = try await fixture.request("r-5", value: broken)
        try await fixture.answer(
            first, id: "r-5", error: SearchError(.invalidRequest, "location is missing", member: "location"))
        try await fixture.setAside(first, value: broken, isRedriven: true)
        let second = try await fixture.request("r-5", at: 5000)
        try await fixture.answer(second, id: "r-5", steps: Self.steps)

        let shown = try await fixture.run(["r-5"])
        expect(
            shown,
            shows: [
                "r-5: failed", "invalid-request (location): location is missing",
                "it went back to the requests topic at \(fixture.time(5000))", "r-5: answered",
            ])
    }

    @Test func `Control characters of records reach no terminal`() async throws {
        let fixture = try await ExplainFixture()
        let source = try await fixture.request(nil, value: "{\"a\":\"\u{1B}[2J\"}\n\u{202E}")
        let shown = try await fixture.run([source.description, "--record"])
        #expect(shown.code == 0, "\(shown.error)")
        #expect(!shown.output.contains("\u{1B}") && !shown.output.contains("\u{202E}"), "\(shown.output)")
    }

    @Test func `The command shows no secret of the settings`() async throws {
        let fixture = try await ExplainFixture()
        try await fixture.request(
            "r-1",
            value:
                #"{"requestId":"r-1","category":"ramen","keyword":"hush-hush-key","location":{"latitude":35,"longitude":139}}"#
        )
        for arguments in [["r-1", "--record"], ["r-1", "--json"]] {
            let shown = try await fixture.run(arguments, ["GOOGLE_PLACES_API_KEY": "hush-hush-key"])
            #expect(shown.code == 0, "\(shown.error)")
            #expect(shown.output.contains("*************") && !shown.output.contains("hush"), "\(shown.output)")
        }
    }

    @Test func `A request that is not found is reported with the searched records`() async throws {
        let fixture = try await ExplainFixture()
        try await fixture.request("r-1")
        let shown = try await fixture.run(["r-2"])
        #expect(shown.code == 1)
        for words in [
            "r-2 was not found in the records", "\(fixture.broker.name("requests")): 1 record", "member requestId",
        ] {
            #expect(shown.error.contains(words), "\(words): \(shown.error)")
        }

        let far = try await fixture.run(["\(fixture.broker.name("requests"))-0-\(Int64.max)"])
        #expect(far.code == 1)
        #expect(far.error.contains("it holds the offsets 0 to 0 of that partition"), "\(far.error)")

        let program = try await fixture.run(["r-2", "--json"])
        #expect(program.code == 1)
        #expect((try program.json()["requests"] as? [Any])?.isEmpty == true)
    }

    @Test(
        arguments: [
            ("topic-a-3-12", 3, 12), ("topic-a-3@12", 3, 12), ("topic-a-3", nil, nil), ("topic-a-3-", nil, nil),
            ("topic-a-3-12-1", nil, nil), ("topic-b-3-12", nil, nil), ("topic-a-x-12", nil, nil),
            ("topic-a-3-99999999999999999999", nil, nil), ("topic-a--3-12", nil, nil),
        ] as [(String, Int32?, Int64?)])
    func `A position is read in the form that outcomes have`(text: String, partition: Int32?, offset: Int64?) {
        let sought = SoughtRequest(text, in: ["topic-a"])
        #expect(sought.position?.partition == partition)
        #expect(sought.position?.offset == offset)
    }
}
