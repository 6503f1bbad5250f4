import Basics
import LocationSearch
import TestSupport
import Testing

@testable import EventContract

/// The header `request-steps` is written as docs/events.md specifies, and can be read back.
struct RequestStepsTests {
    private static func milliseconds(_ number: Int64) -> Int64 { number * 1_000_000 }

    private static func step(
        _ kind: RequestStep.Kind, _ provider: ProviderID = .hotpepper, _ end: RequestStep.End = .over,
        at start: Int64 = 0, for duration: Int64 = 0
    ) -> RequestStep {
        RequestStep(kind, provider, end: end, start: milliseconds(start), duration: milliseconds(duration))
    }

    private static func steps(_ all: [RequestStep], topicWait: Duration? = nil) -> RequestSteps {
        var steps = RequestSteps(topicWait: topicWait)
        for step in all { steps.append(step) }
        return steps
    }

    private static func text(_ steps: RequestSteps) -> String { String(decoding: steps.text, as: UTF8.self) }

    private static let texts: [(RequestSteps, String)] = [
        (steps([]), ""),
        (steps([], topicWait: .milliseconds(1200)), "topic 1200"),
        (steps([step(.call, .hotpepper, .answered, for: 87)], topicWait: .zero), "topic 0; call hotpepper 0+87 ok"),
        (
            steps([step(.refused, .googlePlaces, .failed(.circuitOpen, httpStatus: nil), at: 3)]),
            "refused google-places 3+0 circuit-open"
        ),
        (
            steps(
                [
                    step(.wait, at: 0, for: 35),
                    step(.call, .hotpepper, .failed(.upstreamUnavailable, httpStatus: 503), at: 35, for: 154),
                    step(.pause, at: 189, for: 87), step(.call, .hotpepper, .givenUp, at: 276, for: 400),
                    step(.park, .googlePlacesLegacy, .cancelled, at: 676, for: 61),
                ], topicWait: .microseconds(12_999)),
            "topic 12; wait hotpepper 0+35; call hotpepper 35+154 upstream-unavailable 503; pause hotpepper 189+87; "
                + "call hotpepper 276+400 given-up; park google-places-legacy 676+61 cancelled"
        ),
        // Invalid HTTP statuses, and impossible durations.
        (
            steps([step(.call, .hotpepper, .failed(.badResponse, httpStatus: 777), at: -5, for: -1)]),
            "call hotpepper 0+0 bad-response"
        ),
    ]

    @Test(arguments: texts) func `Steps are written as documented and read back`(steps: RequestSteps, text: String) {
        #expect(Self.text(steps) == text)

        let read = OutcomeEvent.Steps(text: Array(text.utf8))
        #expect(read.topicWait == steps.topicWait.map { .milliseconds($0.milliseconds(roundedUp: false)) })
        #expect(read.steps.count == (steps.first == nil ? 0 : steps.others.count + 1))
        #expect(!read.areCut)
        for (read, step) in zip(read.steps, (steps.first.map { [$0] } ?? []) + steps.others) {
            #expect(read.kind == step.kind.rawValue && read.provider == step.provider.rawValue)
            #expect(read.start == .milliseconds(max(0, step.start / 1_000_000)))
            #expect(read.duration == .milliseconds(max(0, step.duration / 1_000_000)))
        }
    }

    @Test func `Code and status are read back`() {
        let step = Self.step(.call, .hotpepper, .failed(.rateLimited, httpStatus: 429), at: 1, for: 2)
        let expected = OutcomeEvent.Step(
            kind: "call", provider: "hotpepper", start: .milliseconds(1), duration: .milliseconds(2),
            code: "rate-limited", httpStatus: 429)
        #expect(OutcomeEvent.Steps(text: Self.steps([step]).text).steps == [expected])
    }

    /// The last step of a request is always included, and the header has at most 1 KB.
    @Test func `Surplus steps are left out before the last one`() {
        let longest = Self.step(
            .refused, .googlePlacesLegacy, .failed(.upstreamUnavailable, httpStatus: 599), at: .max / 1_000_000,
            for: .max / 1_000_000)
        var steps = Self.steps(Array(repeating: longest, count: 40), topicWait: .seconds(Int64.max / 2))
        steps.append(Self.step(.call, .hotpepper, .answered, at: 4, for: 5))
        let text = Self.text(steps)

        #expect(text.hasSuffix("; ...; call hotpepper 4+5 ok"))
        #expect(text.utf8.count <= 1024)
        let read = OutcomeEvent.Steps(text: Array(text.utf8))
        #expect(read.areCut && read.steps.count == RequestSteps.most)
    }

    @Test func `The most steps that are kept are not cut`() {
        let steps = Self.steps(Array(repeating: Self.step(.wait), count: RequestSteps.most))
        #expect(!steps.areCut && !Self.text(steps).contains("..."))
    }

    /// A newer worker may write other steps, and more words after the known ones.
    @Test func `Steps of a newer version are kept`() {
        let text = "topic 5; teleport mars 1+2 ok 200 more words; nonsense; call hotpepper 3+4 fresh-code; queue 7"
        let read = OutcomeEvent.Steps(text: Array(text.utf8))
        #expect(read.steps.map(\.kind) == ["teleport", "call"])
        #expect(read.steps.map(\.code) == ["ok", "fresh-code"])
        #expect(read.topicWait == .milliseconds(5))
    }

    @Test(arguments: [
        "call hotpepper 1", "call hotpepper 1+", "call hotpepper +1", "call hotpepper -1+1", "call hotpepper 1+1+1",
        "call hotpepper 1+9999999999", "call hotpepper", "call", ";;;", " ", "topic", "topic x",
    ])
    func `Text that is no step is skipped`(text: String) {
        #expect(OutcomeEvent.Steps(text: Array(text.utf8)) == OutcomeEvent.Steps())
    }

    @Test func `An outcome has the header only if there are steps`() throws {
        var encoder = OutcomeEncoder(seed: 1)
        for steps in [nil, Self.steps([Self.step(.call, .hotpepper, .answered)], topicWait: .milliseconds(2))] {
            let encoded = Outcomes.encode(Outcomes.outcome(.success(Outcomes.searched)), by: &encoder, steps: steps)
            let header = encoded.headers.last(named: "request-steps")
            #expect(header?.text == (steps == nil ? nil : "topic 2; call hotpepper 0+0 ok"))
            let event = try OutcomeReader().read(value: encoded.value, headers: encoded.headers)
            #expect(event.steps?.steps.count == (steps == nil ? nil : 1))
        }
    }
}

/// Damaged texts of the header are read without a trap, within bounds.
struct RequestStepsFuzzTests {
    private static let inputs = SplitMix64.inputs(usually: 15_000)

    @Test func `Every text is read without a trap`() {
        let pieces = [
            "topic ", "call ", "hotpepper ", "12", "+", "; ", ";", "...", " ok", " 503", "9999999999", "-1", "\u{0}",
            "é", "refused google-places 0+0 circuit-open",
        ]
        var random = SplitMix64(state: 31)
        for _ in 0..<Self.inputs {
            var text = (0..<Int.random(in: 0...40, using: &random)).flatMap { _ in
                Array(pieces.randomElement(using: &random)!.utf8)
            }
            if let index = text.indices.randomElement(using: &random) {
                text[index] = .random(in: 0...255, using: &random)
            }
            let read = OutcomeEvent.Steps(text: text)
            let areBounded = read.steps.allSatisfy {
                $0.start >= .zero && $0.duration < .seconds(1_000_000)
                    && $0.httpStatus.map { (100...599).contains($0) } ?? true
            }
            #expect(areBounded && read.steps.count <= text.count)
        }
    }
}
