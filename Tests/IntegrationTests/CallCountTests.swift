import Basics
import EventContract
import LocationSearch
import TestSupport
import Testing

/// Requests that need several HTTP calls, checked by the providers' counts: every call respects the rate limit and is reported.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct CallCountTests {
    /// Five calls a second, with a burst of one.
    private static let fivePerSecond = [
        "PROVIDERS_GOOGLE_PLACES_REQUESTS_PER_SECOND": "5", "PROVIDERS_GOOGLE_PLACES_BURST": "1",
        "PROVIDERS_GOOGLE_PLACES_LEGACY_REQUESTS_PER_SECOND": "5", "PROVIDERS_GOOGLE_PLACES_LEGACY_BURST": "1",
        "PROVIDERS_GOOGLE_PLACES_LEGACY_SINGLE_FLIGHT": "false",
    ]

    /// Checks the rate over the whole elapsed time. If the machine stalls for a moment, calls that left in time arrive together, so
    /// the number of arrivals within one second proves nothing.
    private static func expectKeptLimit(
        calls: Int, since began: Instant, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let seconds = (Instant.now - began) / .seconds(1)
        let allowed = 1 + 5 * seconds
        #expect(
            Double(calls) <= allowed, "\(calls) calls in \(seconds) s at a limit of 5 a second",
            sourceLocation: sourceLocation)
    }

    /// A photo takes two calls: one for the place's photo name, and one for the picture's URL.
    @Test(arguments: ["google-places", "google-places-legacy"])
    func `Both calls of a photo request respect the rate limit`(provider: String) async throws {
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

            // A place without a photo needs one call.
            for outcome in outcomes.values { #expect(outcome.attempts == (outcome.code == "not-found" ? 1 : 2)) }
            #expect(outcomes.values.contains { $0.attempts == 2 })
            let calls = 1 + outcomes.values.reduce(0) { $0 + ($1.attempts ?? 0) }
            #expect(try await harness.calls(to: provider) == calls)
            #expect(
                try await harness.metric("locsearch_provider_calls_total{provider=\"\(provider)\"}") == Double(calls))
            Self.expectKeptLimit(calls: calls, since: began)
        }
    }

    /// Google rejects a page token for about two seconds after it was issued, so its first users retry.
    @Test func `All calls for pages of the legacy service respect the rate limit`() async throws {
        let provider = "google-places-legacy"
        try await WorkerHarness.run(Self.fivePerSecond) { harness in
            let began = Instant.now
            try await harness.send([WorkerHarness.request("search", provider)])
            let first = try #require(try await harness.outcomes(1)["search"])
            let token = try #require(first.result?.nextPageToken)

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

    /// libcurl itself repeats requests if a kept-alive connection ends before the answer.
    @Test(arguments: ["hotpepper", "google-places", "google-places-legacy"])
    func `The worker counts every call although connections are closed`(provider: String) async throws {
        try await WorkerHarness.run([
            "WORKER_CONCURRENCY": "8", "PROVIDERS_HOTPEPPER_BREAKER_ENABLED": "false",
            "PROVIDERS_GOOGLE_PLACES_BREAKER_ENABLED": "false",
            "PROVIDERS_GOOGLE_PLACES_LEGACY_BREAKER_ENABLED": "false",
        ]) { harness in
            try await harness.configureProviders(#"{"faults":{"close":0.3}}"#)
            let requests = (0..<100).map { WorkerHarness.request("r\($0)", provider, #","keyword":"k\#($0)""#) }
            try await harness.send(requests)
            let outcomes = try await harness.outcomes(requests.count)

            let attempts = outcomes.values.reduce(0) { $0 + ($1.attempts ?? 0) }
            #expect(attempts > requests.count, "no connection was closed")
            #expect(try await harness.calls(to: provider) == attempts)
            #expect(
                try await harness.metric("locsearch_provider_calls_total{provider=\"\(provider)\"}") == Double(attempts)
            )
        }
    }

    /// A gateway's `{"message": ...}` is not a result without places.
    @Test func `An auto request moves on from a gateway that answers for the provider`() async throws {
        let gateway = try RawServer { $0.answerAll(#"{"message":"no route matched"}"#) }
        try await WorkerHarness.run([
            "GOOGLE_PLACES_BASE_URL": gateway.url, "PROVIDERS_ORDER": "google-places,hotpepper",
            "PROVIDERS_GOOGLE_PLACES_MAX_ATTEMPTS": "1",
        ]) { harness in
            try await harness.send([WorkerHarness.request("auto", "auto")])
            let outcome = try #require(try await harness.outcomes(1)["auto"])
            #expect(outcome.provider == "hotpepper" && outcome.places?.isEmpty == false)
            #expect(outcome.triedProviders == ["google-places", "hotpepper"])
        }
    }

    /// Neither a raw line feed in a text nor an unknown content coding costs the answer or a second call.
    @Test func `An answer with a raw line feed and an unknown coding is a result`() async throws {
        let body = "{\"results\":{\"results_available\":1,\"shop\":[{\"id\":\"J1\",\"name\":\"a\nb\"}]}}"
        let provider = try RawServer { connection in
            while connection.readRequest() != nil { connection.answer(body, headers: "Content-Encoding: UTF-8\r\n") }
        }
        try await WorkerHarness.run(["HOTPEPPER_BASE_URL": provider.url]) { harness in
            try await harness.send([WorkerHarness.request("r", "hotpepper")])
            let outcome = try #require(try await harness.outcomes(1)["r"])
            #expect(outcome.result?.places.map(\.name) == ["a\u{FFFD}b"])
            #expect(outcome.attempts == 1 && provider.requests.count == 1)
        }
    }
}
