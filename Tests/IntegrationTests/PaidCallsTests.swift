import EventContract
import Foundation
import TestSupport
import Testing

/// The calls to providers that cost money, by the providers' own counts.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct PaidCallsTests {
    private static let providers = ["hotpepper", "google-places", "google-places-legacy"]

    // MARK: - Fallback

    @Test func `An auto request moves to the next provider and a named one does not`() async throws {
        try await WorkerHarness.run([
            "PROVIDERS_HOTPEPPER_BREAKER_ENABLED": "false", "PROVIDERS_HOTPEPPER_MAX_ATTEMPTS": "1",
            "PROVIDERS_ORDER": "hotpepper,google-places",
        ]) { harness in
            try await harness.configureProviders(#"{"apis":["hotpepper"],"faults":{"503":1}}"#)
            try await harness.send(
                WorkerHarness.requests("auto", 5, "auto") + WorkerHarness.requests("named", 5, "hotpepper"))
            let outcomes = try await harness.outcomes(10)
            for number in 0..<5 {
                let moved = try #require(outcomes["auto\(number)"])
                #expect(moved.places != nil)
                #expect(moved.provider == "google-places")
                #expect(moved.triedProviders == ["hotpepper", "google-places"])
                #expect(moved.attempts == 2)
                let stayed = try #require(outcomes["named\(number)"])
                #expect(stayed.code == "upstream-unavailable")
                #expect(stayed.provider == "hotpepper")
                #expect(stayed.triedProviders.isEmpty)
            }
            #expect(try await harness.calls(to: "hotpepper") == 10)
            #expect(try await harness.calls(to: "google-places") == 5)
        }
    }

    // MARK: - Breaker

    @Test func `Requests end at once with a retry time while a breaker is open`() async throws {
        try await WorkerHarness.run([
            "PROVIDERS_HOTPEPPER_MAX_ATTEMPTS": "1", "PROVIDERS_HOTPEPPER_BREAKER_MINIMUM_CALLS": "5",
            "PROVIDERS_HOTPEPPER_BREAKER_WINDOW": "1m", "PROVIDERS_HOTPEPPER_BREAKER_OPEN_DURATION": "2m",
        ]) { harness in
            try await harness.configureProviders(#"{"apis":["hotpepper"],"faults":{"500":1}}"#)
            try await harness.send(WorkerHarness.requests("failing", 5, "hotpepper"))
            for outcome in try await harness.outcomes(5).values { #expect(outcome.code == "upstream-unavailable") }
            try await harness.send(
                WorkerHarness.requests("refused", 10, "hotpepper") + WorkerHarness.requests("other", 1, "google-places")
            )
            for (id, outcome) in try await harness.outcomes(11) {
                guard id.hasPrefix("refused") else {
                    #expect(outcome.places != nil, "another provider's breaker is closed")
                    continue
                }
                #expect(outcome.code == "circuit-open")
                #expect(outcome.attempts == 0)
                let wait = try #require(outcome.retryAfter)
                #expect(wait > .zero && wait <= .seconds(120), "\(wait)")
            }
            #expect(try await harness.calls(to: "hotpepper") == 5)
            let status = try await harness.status(of: "hotpepper")
            #expect(status["breaker"] as? String == "open")
            #expect(status["openForSeconds"] as? Double ?? 0 > 0)
            let state = "locsearch_provider_breaker_state{provider=\"hotpepper\",state=\"open\"}"
            #expect(try await harness.metric(state) == 1)
            let reason = "locsearch_provider_breaker_reason{provider=\"hotpepper\",reason=\"failure-rate\"}"
            #expect(try await harness.metric(reason) == 1)
            #expect(try await harness.metric("locsearch_requests_failed_total{code=\"circuit-open\"}") == 10)
            #expect(try await harness.awaitedLogLines(with: "provider is failing", "hotpepper") == 1)
        }
    }

    @Test func `Parked requests stay uncommitted until the breaker closes`() async throws {
        try await WorkerHarness.run([
            "WORKER_CONCURRENCY": "4", "PROVIDERS_HOTPEPPER_WHEN_OPEN": "hold",
            "PROVIDERS_HOTPEPPER_MAX_ATTEMPTS": "1", "PROVIDERS_HOTPEPPER_BREAKER_MINIMUM_CALLS": "4",
            "PROVIDERS_HOTPEPPER_BREAKER_WINDOW": "1m", "PROVIDERS_HOTPEPPER_BREAKER_OPEN_DURATION": "8s",
        ]) { harness in
            try await harness.configureProviders(#"{"apis":["hotpepper"],"faults":{"500":1}}"#)
            try await harness.send(WorkerHarness.requests("failing", 4, "hotpepper"))
            for outcome in try await harness.outcomes(4).values { #expect(outcome.code == "upstream-unavailable") }
            try await harness.configureProviders(#"{"apis":["hotpepper"],"faults":{}}"#)
            // Their own deadline is far shorter than the breaker's open duration.
            try await harness.send(WorkerHarness.requests("held", 20, "hotpepper", #","timeoutMs":2000"#))
            try await eventually("as many wait as may be in flight") {
                try await harness.status(of: "hotpepper")["heldRequests"] as? Int == 4
            }
            #expect(try await harness.metric("locsearch_requests_taken_total") == 8)
            #expect(try await harness.calls(to: "hotpepper") == 4)
            for outcome in try await harness.outcomes(20).values { #expect(outcome.places != nil) }
            #expect(try await harness.calls(to: "hotpepper") == 24)
            #expect(try await harness.awaitedLogLines(with: "provider has recovered", "hotpepper") == 1)
            #expect(try await harness.status(of: "hotpepper")["heldRequests"] as? Int == 0)
        }
    }

    /// 401, the legacy service's REQUEST_DENIED and Hot Pepper's error 2000.
    @Test func `A worker uses a rejected key once and logs it once`() async throws {
        try await WorkerHarness.run(["HOTPEPPER_API_KEY": "wrong-hotpepper"]) { harness in
            try await harness.configureProviders(#"{"apis":["google-places"],"faults":{"UNAUTHENTICATED":1}}"#)
            try await harness.configureProviders(#"{"apis":["google-places-legacy"],"faults":{"REQUEST_DENIED":1}}"#)
            try await harness.send(Self.providers.map { WorkerHarness.request($0, $0) })
            let first = try await harness.outcomes(3)
            for provider in Self.providers { #expect(first[provider]?.code == "unauthorized") }
            #expect(first["google-places"]?.failure?.httpStatus == 401)
            #expect(first["google-places-legacy"]?.failure?.providerStatus == "REQUEST_DENIED")
            for provider in Self.providers { try await harness.send(WorkerHarness.requests(provider, 10, provider)) }
            for outcome in try await harness.outcomes(30).values {
                #expect(outcome.code == "unauthorized")
                #expect(outcome.attempts == 0)
                let wait = try #require(outcome.retryAfter)
                #expect(wait > .seconds(200) && wait <= .seconds(300), "\(wait)")
            }
            for provider in Self.providers {
                #expect(try await harness.calls(to: provider) == 1)
                #expect(try await harness.awaitedLogLines(with: "provider rejects the API key", "\"\(provider)\"") == 1)
                #expect(try await harness.status(of: provider)["breakerReason"] as? String == "key-refused")
            }
            #expect(
                try await harness.awaitedLogLines(with: "provider rejects the API key", #""httpStatus":"401""#) == 1)
            let readiness = try await harness.get("/readyz")
            #expect(readiness.status == 200, "it takes requests")
            #expect(readiness.body.hasPrefix("answers with errors: no provider is available: "), "\(readiness.body)")
            #expect(readiness.body.contains("hotpepper: key-refused"), "\(readiness.body)")
            #expect(try await harness.status("ready", as: Bool.self) == true)
            let ends = try #require(try await harness.status("lastOutcomes", as: [String: Any].self))
            #expect((ends["counts"] as? [String: Int])?["unauthorized"] == 33, "\(ends)")
            #expect(
                !harness.worker.error.contains("wrong-hotpepper") && !harness.worker.error.contains("secret-google"))
        }
    }

    // MARK: - Single flight

    @Test func `Identical searches share one call and each has its outcome`() async throws {
        try await WorkerHarness.run { harness in
            try await harness.configureProviders(#"{"latency":"4s"}"#)
            let same = (0..<10).map { WorkerHarness.request("same\($0)", "hotpepper", #","timeoutMs":20000"#) }
            try await harness.send(
                same + [WorkerHarness.request("other", "hotpepper", #","limit":3,"timeoutMs":20000"#)])
            let outcomes = try await harness.outcomes(11)
            let places = try #require(outcomes["same0"]?.places)
            for number in 0..<10 { #expect(outcomes["same\(number)"]?.places == places) }
            #expect(outcomes["other"]?.places?.count == 3)
            #expect(outcomes.values.reduce(0) { $0 + ($1.attempts ?? 0) } == 2)
            #expect(try await harness.calls() == 2)
            #expect(try await harness.metric("locsearch_provider_calls_shared_total{provider=\"hotpepper\"}") == 9)
            // Results are not cached: an identical request causes another call.
            try await harness.configureProviders(#"{"latency":"0ms"}"#)
            try await harness.send([WorkerHarness.request("later", "hotpepper")])
            #expect(try await harness.outcomes(1)["later"]?.attempts == 1)
            #expect(try await harness.calls() == 3)
        }
    }

    // MARK: - Rate

    /// `Retry-After` of Hot Pepper and of Google's legacy API, RetryInfo of the new one.
    @Test func `The retry time of one request applies to all requests`() async throws {
        try await WorkerHarness.run([
            "PROVIDERS_HOTPEPPER_MAX_ATTEMPTS": "1", "PROVIDERS_GOOGLE_PLACES_MAX_ATTEMPTS": "1",
            "PROVIDERS_GOOGLE_PLACES_LEGACY_MAX_ATTEMPTS": "1",
        ]) { harness in
            try await harness.send(Self.providers.flatMap { WorkerHarness.requests("first-\($0)", 1, $0) })
            for outcome in try await harness.outcomes(3).values { #expect(outcome.places != nil) }
            try await harness.configureProviders(#"{"faults":{"rate-limited=90":1}}"#)
            try await harness.send(Self.providers.flatMap { WorkerHarness.requests("told-\($0)", 1, $0) })
            for outcome in try await harness.outcomes(3).values {
                #expect(outcome.code == "rate-limited")
                #expect(outcome.attempts == 1)
                #expect(outcome.retryAfter == .seconds(90))
            }
            try await harness.send(Self.providers.flatMap { WorkerHarness.requests("all-\($0)", 10, $0) })
            for outcome in try await harness.outcomes(30).values {
                #expect(outcome.code == "rate-limited")
                #expect(outcome.failure?.message.contains("requested a pause") == true)
                #expect(outcome.attempts == 0)
                let wait = try #require(outcome.retryAfter)
                #expect(wait > .zero && wait <= .seconds(90), "\(wait)")
            }
            for provider in Self.providers {
                #expect(try await harness.calls(to: provider) == 2)
                let status = try await harness.status(of: provider)
                #expect(status["breaker"] as? String == "paused")
                #expect(status["breakerReason"] as? String == "provider-rate-limit")
                #expect(status["pausedForSeconds"] as? Double ?? 0 > 0)
                let labels = "provider=\"\(provider)\",state=\"paused\""
                #expect(try await harness.metric("locsearch_provider_breaker_state{\(labels)}") == 1)
                #expect(
                    try await harness.awaitedLogLines(
                        with: "requested a pause", "\"\(provider)\"", "provider-rate-limit") == 1)
            }
        }
    }

    // MARK: - Expiry

    @Test func `An expired request causes no call`() async throws {
        try await WorkerHarness.run(["WORKER_MAX_AGE": "10m"]) { harness in
            try await harness.send(WorkerHarness.requests("old", 5, "hotpepper"), age: .seconds(3600))
            try await harness.send(
                WorkerHarness.requests("own", 5, "hotpepper", #","timeoutMs":3000"#), age: .seconds(60))
            try await harness.send(WorkerHarness.requests("fresh", 5, "hotpepper"))
            for (id, outcome) in try await harness.outcomes(15) {
                if id.hasPrefix("fresh") {
                    #expect(outcome.places != nil)
                } else {
                    #expect(outcome.code == "expired", "\(id)")
                    #expect(outcome.attempts == 0)
                }
            }
            #expect(try await harness.calls() == 5)
        }
    }

    /// No call is made for a parked request that has expired.
    @Test func `A parked request expires without a call`() async throws {
        try await WorkerHarness.run([
            "WORKER_MAX_AGE": "4s", "PROVIDERS_HOTPEPPER_WHEN_OPEN": "hold", "PROVIDERS_HOTPEPPER_MAX_ATTEMPTS": "1",
        ]) { harness in
            try await harness.send([WorkerHarness.request("refused", "hotpepper", #","keyword":"fault:unauthorized""#)])
            #expect(try await harness.outcomes(1)["refused"]?.code == "unauthorized")

            try await harness.send(WorkerHarness.requests("held", 3, "hotpepper"))
            for (id, outcome) in try await harness.outcomes(3) {
                #expect(outcome.code == "expired", "\(id)")
                #expect(outcome.attempts == 0)
                #expect(outcome.failure?.message.contains("while it waited for calls") == true)
            }
            #expect(try await harness.calls() == 1)
        }
    }

    // MARK: - Undelivered answers

    @Test func `A worker counts a call whose answer was not used`() async throws {
        try await WorkerHarness.run { harness in
            try await harness.configureProviders(#"{"latency":"30s"}"#)
            let session = #","sessionId":"one","timeoutMs":20000"#
            try await harness.send(WorkerHarness.requests("older", 1, "hotpepper", session), key: "one")
            try await eventually("the older is asked for") { try await harness.calls() == 1 }
            #expect(try await harness.metric("locsearch_provider_calls_wasted_total") == 0)
            try await harness.configureProviders(#"{"latency":"0ms"}"#)
            try await harness.send(WorkerHarness.requests("newer", 1, "hotpepper", session), key: "one")
            let outcomes = try await harness.outcomes(2)
            #expect(outcomes["older0"]?.code == "superseded")
            #expect(outcomes["newer0"]?.places != nil)
            try await eventually("the call for nothing is counted") {
                try await harness.metric("locsearch_provider_calls_wasted_total") == 1
            }
            #expect(try await harness.metric("locsearch_provider_calls_total{provider=\"hotpepper\"}") == 2)
            try await eventually("the provider saw its client leave") { try await harness.count("aborted") == 1 }
        }
    }

    // MARK: - Terms

    @Test func `A result carries the credits that the terms ask for`() async throws {
        let credits = [
            "hotpepper": "Powered by ホットペッパーグルメ Webサービス", "google-places": "Google Maps",
            "google-places-legacy": "Google Maps",
        ]
        try await WorkerHarness.run { harness in
            for provider in Self.providers {
                try await harness.send([
                    WorkerHarness.request("\(provider)-some", provider, #","limit":5"#),
                    WorkerHarness.request("\(provider)-none", provider, #","keyword":"fault:none""#),
                ])
                let found = try await harness.outcomes(2)
                let places = try #require(found["\(provider)-some"]?.places)
                #expect(!places.isEmpty)
                #expect(found["\(provider)-none"]?.places == [])
                let more = places.enumerated().flatMap { number, place in
                    ["details", "photo"].map { operation in
                        WorkerHarness.request(
                            "\(provider)-\(operation)\(number)", provider,
                            #","operation":"\#(operation)","placeId":"\#(place)""#)
                    }
                }
                try await harness.send(more)
                let rest = try await harness.outcomes(more.count)
                // A place may have no photo.
                let succeeded = rest.filter { $0.value.code != "not-found" }
                #expect(succeeded.keys.contains { $0.contains("-photo") }, "no place has a photo")
                #expect(succeeded.keys.count { $0.contains("-details") } == places.count)
                for (id, outcome) in found.merging(succeeded, uniquingKeysWith: { a, _ in a }) {
                    #expect(outcome.failure == nil, "\(id)")
                    #expect(outcome.attributions.first == credits[provider], "\(id)")
                }
            }
        }
    }
}
