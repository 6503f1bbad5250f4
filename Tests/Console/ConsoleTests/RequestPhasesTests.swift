import Console
@testable import EventContract
import LocationSearch
import Testing

/// The division of a request's time into phases, based on its outcome.
struct RequestPhasesTests {
    private static let source = SourcePosition(topic: "requests", partition: 3, offset: 7)

    private static func time(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: 1_000_000 + milliseconds) }

    /// A request whose record was written at 0, taken at 100, and answered at 600, and whose outcome was written at 640.
    private static func life(steps: String?) -> RequestLife {
        var life = RequestLife(source: source)
        life.request = RequestLife.Request(time: time(0), key: nil, value: [], headers: [], requestID: "r")
        life.outcomes = [
            RequestLife.Outcome(
                position: SourcePosition(topic: "results", partition: 0, offset: 1), time: time(640), byteCount: 2,
                event: OutcomeEvent(
                    requestID: "r", body: .completed(.init()), receivedAt: time(100), completedAt: time(600),
                    steps: steps.map { OutcomeEvent.Steps(text: Array($0.utf8)) }))
        ]
        return life
    }

    private static func texts(_ phases: RequestPhases) -> [String] {
        phases.all.map { phase in
            "\(phase.kind.rawValue) \(phase.start / .milliseconds(1))+\(phase.duration / .milliseconds(1))"
        }
    }

    @Test(
        arguments: [
            (nil, ["topic 0.0+100.0", "worker 100.0+500.0", "publish 600.0+40.0"]),
            (
                "topic 100; call google-places 0+200 upstream-unavailable 503; pause google-places 200+50; call google-places 250+250 ok",
                [
                    "topic 0.0+100.0", "call 100.0+200.0", "pause 300.0+50.0", "call 350.0+250.0",
                    "publish 600.0+40.0",
                ]
            ),
            (
                "topic 100; refused google-places 0+0 circuit-open; call hotpepper 1+499 timeout",
                [
                    "topic 0.0+100.0", "refused 100.0+0.0", "call 101.0+499.0",
                    "publish 600.0+40.0",
                ]
            ),
            // Time without a step belongs to the worker, from 10 ms on.
            (
                "topic 100; call hotpepper 9+100 ok",
                ["topic 0.0+100.0", "call 109.0+100.0", "worker 209.0+391.0", "publish 600.0+40.0"]
            ),
            // A step of an unknown kind is shown by its name.
            ("topic 100; dance hotpepper 0+500", ["topic 0.0+100.0", "dance 100.0+500.0", "publish 600.0+40.0"]),
        ] as [(String?, [String])])
    func `An outcome shows how the time was spent`(steps: String?, expected: [String]) throws {
        let phases = try #require(RequestPhases(Self.life(steps: steps)))
        #expect(Self.texts(phases) == expected)
        #expect(phases.areStepsKnown == (steps != nil))
        #expect(phases.total == .milliseconds(640))
    }

    @Test func `Clocks that differ give no negative time`() throws {
        var life = Self.life(steps: nil)
        life.request = RequestLife.Request(time: Self.time(5000), key: nil, value: [], headers: [], requestID: "r")
        let phases = try #require(RequestPhases(life))
        #expect(Self.texts(phases) == ["topic 0.0+0.0", "worker 0.0+500.0", "publish 500.0+40.0"])
    }

    @Test func `A request without an outcome has no phases`() {
        var life = Self.life(steps: nil)
        life.outcomes = []
        #expect(RequestPhases(life) == nil)
    }

    @Test func `The result counts if there is an error too`() {
        var life = Self.life(steps: nil)
        let failure = OutcomeEvent.Failure(code: "superseded", message: "", isRetryable: false)
        let error = RequestLife.Outcome(
            position: SourcePosition(topic: "errors", partition: 0, offset: 0), time: Self.time(300), byteCount: 2,
            event: OutcomeEvent(requestID: "r", body: .failed(failure)))
        life.outcomes.insert(error, at: 0)
        #expect(life.outcome?.position.topic == "results")
    }

    @Test(
        arguments: [
            ("https://jaeger.example/trace/{traceId}", "https://jaeger.example/trace/abc"),
            ("http://127.0.0.1:16686/t?id={traceId}#x", "http://127.0.0.1:16686/t?id=abc#x"),
            ("https://jaeger.example/trace/", nil), ("javascript:alert('{traceId}')", nil),
            ("https://user:secret@jaeger.example/{traceId}", nil), ("https:///{traceId}", nil),
            ("https://{traceId}.example/", nil), ("https://jaeger.example/{traceId}\"><b>", nil),
        ] as [(String, String?)])
    func `Links to traces are plain URLs`(template: String, expected: String?) {
        #expect(TraceLink(template)?.url(of: "abc") == expected)
    }
}
