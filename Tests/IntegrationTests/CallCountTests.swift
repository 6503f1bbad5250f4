import Basics
import EventContract
import LocationSearch
import TestSupport
import Testing

/// Requests that need several HTTP calls, judged by the providers' own counts: every call keeps to the rate limit and is
/// reported.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct CallCountTests {
    /// Five calls a second, and one at once: the burst.
    private static let fivePerSecond = [
        "PROVIDERS_GOOGLE_PLACES_REQUESTS_PER_SECOND": "5", "PROVIDERS_GOOGLE_PLACES_BURST": "1",
        "PROVIDERS_GOOGLE_PLACES_LEGACY_REQUESTS_PER_SECOND": "5", "PROVIDERS_GOOGLE_PLACES_LEGACY_BURST": "1",
        "PROVIDERS_GOOGLE_PLACES_LEGACY_SINGLE_FLIGHT": "false",
    ]

    /// Judges the rate by all the time that went by. On a machine that stands still for a moment, calls that left in time
    /// arrive together, so the number that arrives within one second proves nothing.
    private static func expectKeptLimit(
        calls: Int, since began: Instant, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let seconds = (Instant.now - began) / .seconds(1)
        let allowed = 1 + 5 * seconds
        #expect(
            Double(calls) <= allowed, "\(calls) calls in \(seconds) s at a limit of 5 a second",
            sourceLocation: sourceLocation)
    }

    /// A photo takes two calls: the place's photo name, then the picture's address.
    @Test(arguments: ["google-places", "google-places-legacy"])
    func photoRequestsKeepTheRateLimitWithBothTheirCalls(provider: String) async throws {
        try await WorkerHarness.run(Self.fivePerSecond) { harness in
            let began = Instant.now
            try await harness.send([WorkerHarness.request("search", provider)])
            let places = try #require(try await harness.outcomes(1)["search"]?.places)

            let photos = places.enumerated().map { number, place in
                WorkerHarness.request(
                    "photo\(number)", provider, #","operation":"photo","placeId":"\#(place)","timeoutMs":30000"#)
            }
            try await harness.send(photos)
            let outcomes = try await harness.outcomes(photos.count)

            // A place without a photo is found out with one call.
            for outcome in outcomes.values { #expect(outcome.attempts == (outcome.code == "not-found" ? 1 : 2)) }
            #expect(outcomes.values.contains { $0.attempts == 2 })
            let calls = 1 + outcomes.values.reduce(0) { $0 + ($1.attempts ?? 0) }
            #expect(try await harness.calls(to: provider) == calls)
            #expect(
                try await harness.metric("locsearch_provider_calls_total{provider=\"\(provider)\"}") == Double(calls))
            Self.expectKeptLimit(calls: calls, since: began)
        }
    }

    /// Google refuses a page token until about two seconds after it was given out, so its first users ask again.
    @Test func pageRequestsOfTheLegacyServiceKeepTheRateLimitWithAllTheirCalls() async throws {
        let provider = "google-places-legacy"
        try await WorkerHarness.run(Self.fivePerSecond) { harness in
            let began = Instant.now
            try await harness.send([WorkerHarness.request("search", provider)])
            let first = try #require(try await harness.outcomes(1)["search"])
            guard case .completed(let result) = first.body, let token = result.nextPageToken else {
                Issue.record("the search has no second page")
                return
            }

            let pages = (0..<15).map { number in
                WorkerHarness.request("page\(number)", provider, #","pageToken":"\#(token)","timeoutMs":30000"#)
            }
            try await harness.send(pages)
            let outcomes = try await harness.outcomes(pages.count)

            for outcome in outcomes.values { #expect(outcome.places != nil) }
            #expect(outcomes.values.contains { $0.attempts ?? 0 > 1 }, "the token was good at once")
            let calls = 1 + outcomes.values.reduce(0) { $0 + ($1.attempts ?? 0) }
            #expect(try await harness.calls(to: provider) == calls)
            Self.expectKeptLimit(calls: calls, since: began)
        }
    }
}
