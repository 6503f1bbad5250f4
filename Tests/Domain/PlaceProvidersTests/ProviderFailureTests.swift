import HTTPTransport
import LocationSearch
import ProviderCalls
import Testing

@testable import PlaceProviders

/// All known failures of the providers, mapped to the contract's errors.
struct ProviderFailureTests {
    struct Expected: CustomTestStringConvertible {
        let recorded: RecordedAnswer
        let status: Int
        let code: SearchError.Code
        let providerStatus: String?
        var retryAfter: Duration?
        var allowsAttempt: Bool?
        var operation = SearchOperation.search

        var testDescription: String { "\(recorded.path) with \(status) for \(operation)" }
    }

    private static func hotpepper(
        _ name: String, _ code: SearchError.Code, _ providerStatus: String? = nil, status: Int = 200,
        for operation: SearchOperation = .search
    ) -> Expected {
        Expected(
            recorded: RecordedAnswer("hotpepper/\(name)"), status: status, code: code, providerStatus: providerStatus,
            operation: operation)
    }

    private static func new(
        _ name: String, _ code: SearchError.Code, _ providerStatus: String?, status: Int? = nil,
        after retryAfter: Duration? = nil, allows: Bool? = nil, for operation: SearchOperation = .search
    ) -> Expected {
        Expected(
            recorded: RecordedAnswer("google-places-new/\(name)"),
            status: status ?? Int(name.dropFirst("error-".count).prefix(3)) ?? 200, code: code,
            providerStatus: providerStatus, retryAfter: retryAfter, allowsAttempt: allows, operation: operation)
    }

    private static func legacy(
        _ name: String, _ code: SearchError.Code, _ providerStatus: String?, status: Int = 200,
        after retryAfter: Duration? = nil, allows: Bool? = nil, for operation: SearchOperation = .search
    ) -> Expected {
        Expected(
            recorded: RecordedAnswer("google-places-legacy/\(name)"), status: status, code: code,
            providerStatus: providerStatus, retryAfter: retryAfter, allowsAttempt: allows, operation: operation)
    }

    static let failures = hotpepperFailures + newFailures + legacyFailures

    private static let hotpepperFailures = [
        hotpepper("error-1000.json", .upstreamUnavailable, "1000"), hotpepper("error-2000.json", .unauthorized, "2000"),
        hotpepper("error-2000-one-object.json", .unauthorized, "2000"),
        hotpepper("error-3000.json", .invalidRequest, "3000"),
        hotpepper("error-3000.json", .invalidRequest, "3000", for: .details),
        hotpepper("error-9999.json", .upstreamRejected, "9999"),
        // A body that is more specific than its status takes precedence.
        hotpepper("error-2000.json", .unauthorized, "2000", status: 503),
        hotpepper("gourmet-first-of-two-pages.json", .upstreamUnavailable, status: 503),
        hotpepper("gourmet-nothing-found.json", .notFound, for: .details),
        hotpepper("gourmet-nothing-found.json", .notFound, for: .photo),
        hotpepper("shop-search.json", .notFound, for: .photo), hotpepper("gourmet-hopeless.json", .badResponse),
        hotpepper("master-genre.json", .badResponse), hotpepper("format-forgotten.xml", .badResponse),
        hotpepper("notice.html", .upstreamUnavailable), hotpepper("notice.html", .upstreamUnavailable, status: 302),
        hotpepper("format-forgotten-after-mark.xml", .badResponse),
        hotpepper("notice-xhtml.html", .upstreamUnavailable),
        hotpepper("notice.html", .upstreamUnavailable, status: 501),
        hotpepper("notice.html", .upstreamUnavailable, status: 503),
        hotpepper("notice.html", .upstreamRejected, status: 404),
    ]

    private static let newFailures = [
        new("error-400-invalid-argument.json", .invalidRequest, "INVALID_ARGUMENT"),
        new("error-400-field-mask.json", .invalidRequest, "INVALID_ARGUMENT"),
        new("error-400-api-key-invalid.json", .unauthorized, "INVALID_ARGUMENT"),
        new("error-400-api-key-invalid.json", .unauthorized, "INVALID_ARGUMENT", for: .details),
        // The id comes from a user. A search has no id, so there it is a parameter.
        new("error-400-place-id.json", .notFound, "INVALID_ARGUMENT", for: .details),
        new("error-400-place-id.json", .invalidRequest, "INVALID_ARGUMENT"),
        new("error-400-place-id-no-longer-valid.json", .notFound, "INVALID_ARGUMENT", for: .photo),
        new("error-401-credentials-missing.json", .unauthorized, "UNAUTHENTICATED"),
        new("error-403-no-key.json", .unauthorized, "PERMISSION_DENIED"),
        new("error-403-service-disabled.json", .unauthorized, "PERMISSION_DENIED"),
        new("error-403-billing-disabled.json", .unauthorized, "PERMISSION_DENIED"),
        new("error-403-api-key-service-blocked.json", .unauthorized, "PERMISSION_DENIED"),
        new("error-403-api-key-http-referrer-blocked.json", .unauthorized, "PERMISSION_DENIED"),
        new("error-403-api-key-ip-address-blocked.json", .unauthorized, "PERMISSION_DENIED"),
        new("error-403-consumer-suspended.json", .unauthorized, "PERMISSION_DENIED"),
        new("error-404-not-found.json", .notFound, "NOT_FOUND", for: .details),
        new("error-404-not-found.json", .upstreamRejected, "NOT_FOUND"),
        new("error-409-aborted.json", .upstreamRejected, "ABORTED"),
        new("error-429-per-minute.json", .rateLimited, "RESOURCE_EXHAUSTED", allows: true),
        new("error-429-per-day.json", .rateLimited, "RESOURCE_EXHAUSTED", after: .seconds(3600), allows: false),
        new(
            "error-429-retry-info.json", .rateLimited, "RESOURCE_EXHAUSTED", after: .milliseconds(17_500), allows: true),
        new("error-499-cancelled.json", .upstreamRejected, "CANCELLED"),
        new("error-500-internal.json", .upstreamUnavailable, "INTERNAL"),
        new("error-501-unimplemented.json", .upstreamRejected, "UNIMPLEMENTED"),
        // Without Google's status, another server answered.
        new("front-end.html", .upstreamUnavailable, nil, status: 501),
        new("error-503-unavailable.json", .upstreamUnavailable, "UNAVAILABLE"),
        new("error-504-deadline-exceeded.json", .upstreamUnavailable, "DEADLINE_EXCEEDED"),
        // An error behind a front end that answers everything with 200 must not become an empty list.
        new("error-403-no-key.json", .unauthorized, "PERMISSION_DENIED", status: 200),
        new("error-404-not-found.json", .notFound, "NOT_FOUND", status: 200, for: .details),
        new("front-end.html", .badResponse, nil), new("front-end.html", .upstreamUnavailable, nil, status: 502),
        new("front-end.html", .upstreamRejected, nil, status: 404),
        new("front-end.html", .notFound, nil, status: 404, for: .details),
        new("front-end.html", .invalidRequest, nil, status: 413), new("front-end.html", .timeout, nil, status: 408),
        new("details-hours-only.json", .badResponse, nil, for: .details),
        new("nothing-found.json", .badResponse, nil, for: .details),
        new("nothing-found.json", .notFound, nil, for: .photo),
    ]

    private static let legacyFailures = [
        legacy("error-invalid-request.json", .invalidRequest, "INVALID_REQUEST"),
        legacy("error-details-missing-parameter.json", .invalidRequest, "INVALID_REQUEST", for: .details),
        legacy("error-not-found.json", .notFound, "NOT_FOUND", for: .details),
        legacy("error-not-found.json", .notFound, "NOT_FOUND", for: .photo),
        legacy("zero-results.json", .notFound, "ZERO_RESULTS", for: .details),
        legacy("error-request-denied.json", .unauthorized, "REQUEST_DENIED"),
        legacy("error-legacy-api.json", .unauthorized, "REQUEST_DENIED"),
        legacy("error-over-query-limit.json", .rateLimited, "OVER_QUERY_LIMIT", allows: true),
        legacy(
            "error-over-query-limit-daily.json", .rateLimited, "OVER_QUERY_LIMIT", after: .seconds(3600), allows: false),
        legacy("error-over-daily-limit.json", .rateLimited, "OVER_DAILY_LIMIT", after: .seconds(3600), allows: false),
        legacy("error-unknown.json", .upstreamUnavailable, "UNKNOWN_ERROR"),
        legacy("error-status-of-tomorrow.json", .upstreamRejected, "PAYMENT_REQUIRED"),
        // A specific body takes precedence.
        legacy("error-request-denied.json", .unauthorized, "REQUEST_DENIED", status: 400),
        legacy("error-no-status.json", .badResponse, nil),
        legacy("error-no-status.json", .upstreamUnavailable, nil, status: 500),
        legacy("photo-redirect.html", .badResponse, nil),
        legacy("photo-redirect.html", .upstreamRejected, nil, status: 302),
        legacy("photo-redirect.html", .upstreamUnavailable, nil, status: 501),
        legacy("details-no-photos.json", .badResponse, nil, for: .details),
        legacy("details-no-photos.json", .notFound, nil, for: .photo),
    ]

    @Test(arguments: failures)
    func `Each failure of a fixture has its code`(expected: Expected) async throws {
        let request = Providers.request(expected.operation)
        let error = try #require(await expected.recorded.service(status: expected.status).failure(request))
        #expect(error.code == expected.code)
        #expect(error.providerStatus == expected.providerStatus)
        #expect(error.retryAfter == expected.retryAfter)
        if let allows = expected.allowsAttempt { #expect(error.allowsAttempt == allows) }
        Self.checkPrivacy(of: error)
    }

    /// Checks for one line, without the key and without account data from providers' messages.
    static func checkPrivacy(of error: SearchError) {
        let text = "\(error)"
        for secret in [Providers.key, "000000000000", "192.0.2.1", "\n"] { #expect(!text.contains(secret), "\(text)") }
        #expect(error.message.utf8.count < 200)
    }

    @Test(arguments: [
        (HTTPError.Kind.dns, SearchError.Code.unreachable), (.connect, .unreachable), (.tls, .unreachable),
        (.reset, .unreachable), (.staleConnection, .unreachable), (.timeout, .timeout), (.cancelled, .timeout),
        (.truncated, .badResponse), (.protocolViolation, .badResponse), (.tooLarge, .badResponse),
        (.invalidRequest, .internal),
    ])
    func `A failure of the transport has its code and contains no key`(kind: HTTPError.Kind, code: SearchError.Code)
        async throws
    {
        for service in Providers.all(FakeHTTP([.failure(HTTPError(kind, "broken"))])) {
            for operation in SearchOperation.allCases {
                let error = try #require(await service.failure(Providers.request(operation)))
                #expect(error.code == code)
                Self.checkPrivacy(of: error)
            }
        }
    }

    /// A front end may echo the request in a link or a name: this must not reach an event.
    @Test func `An answer that repeats the key is refused`() async {
        let hotpepper = [
            #"{"id":"a","name":"x","urls":{"pc":"https://a/?key=KEY"}}"#, #"{"id":"a","name":"KEY"}"#,
            #"{"id":"a","name":"x","genre":{"name":"\u004BEY"}}"#,
        ].map { #"{"results":{"results_available":1,"shop":[\#($0)]}}"# }
        let google = [
            #"{"places":[{"id":"a","googleMapsUri":"https://a/?key=KEY"}]}"#, #"{"places":[{"id":"KEY"}]}"#,
            #"{"places":[{"id":"a"}],"nextPageToken":"KEY"}"#, #"{"places":[{"id":"a","types":["b","KEY"]}]}"#,
            #"{"places":[{"id":"a","attributions":[{"provider":"KEY"}]}]}"#,
        ]
        let legacy = [
            #"{"results":[{"place_id":"a","vicinity":"KEY"}],"status":"OK"}"#,
            #"{"results":[{"place_id":"a"}],"next_page_token":"KEY","status":"OK"}"#,
            #"{"results":[{"place_id":"a"}],"html_attributions":["KEY"],"status":"OK"}"#,
        ]
        let key = Providers.key
        for (bodies, provider) in [
            (hotpepper, ProviderID.hotpepper), (google, .googlePlaces), (legacy, .googlePlacesLegacy),
        ] {
            for body in bodies {
                let escaped = body.replacing(
                    "\\u004BEY", with: "\\u00\(String(key.utf8.first ?? 0, radix: 16))\(key.dropFirst())")
                let http = FakeHTTP(escaped.replacing("KEY", with: key))
                let error = await Providers.service(provider, http).failure(Providers.search())
                #expect(error?.code == .badResponse && error?.message.contains("key") == true, "\(body)")
                error.map(Self.checkPrivacy)
            }
        }
        // Unread members are ignored.
        let unread = FakeHTTP(#"{"places":[{"id":"a","url":"\#(key)"}]}"#)
        #expect(await Providers.google(unread).failure(Providers.search()) == nil)
        // A prefix of the key after its last possible start, and the key without its last byte.
        for end in ["S", String(Providers.key.dropLast())] {
            let http = FakeHTTP(#"{"places":[{"id":"\#(end)"}]}"# + String(repeating: " ", count: 100))
            #expect(await Providers.google(http).failure(Providers.search()) == nil)
        }
    }

    /// `test`, a key for simulators: it may occur in any answer, and is no secret.
    @Test func `An answer that contains a short key is accepted`() async {
        let http = FakeHTTP(#"{"places":[{"id":"test","displayName":{"text":"A test"}}]}"#)
        let service = Providers.service(.googlePlaces, http, key: "test")
        #expect(await service.failure(Providers.search()) == nil)
    }

    @Test func `The description of a service contains no key`() {
        let key = ProviderKey(Providers.key)
        var texts = ["\(key)", String(reflecting: key)]
        for service in Providers.all(FakeHTTP("")) {
            texts += ["\(service)", String(reflecting: service)]
            dump(service, to: &texts[texts.count - 1])
        }
        for text in texts { #expect(!text.contains(Providers.key), "\(text)") }
        #expect(texts.dropFirst(2).allSatisfy { $0.contains(".test") })
    }

    @Test func `A service without a key makes no call`() async {
        let http = FakeHTTP("{}")
        for service in Providers.all(http, key: "") {
            for operation in SearchOperation.allCases {
                #expect(await service.failure(Providers.request(operation))?.code == .unauthorized)
            }
        }
        #expect(http.requests.isEmpty)
    }

    /// A provider's status is copied into events only if it looks like a status name.
    @Test(arguments: ["two words", "a\\nb", "\\u0000", String(repeating: "A", count: 65), "<b>", "状態"])
    func `A status that is no name is not published`(status: String) async {
        let legacy = await Providers.legacy(FakeHTTP(#"{"results":[],"status":"\#(status)"}"#)).failure(
            Providers.search())
        #expect(legacy?.code == (status.hasPrefix("A") ? .upstreamRejected : .badResponse))
        #expect(legacy?.providerStatus == nil)
        let new = await Providers.google(FakeHTTP(400, #"{"error":{"status":"\#(status)"}}"#)).failure(
            Providers.search())
        #expect(new?.code == .upstreamRejected)
        #expect(new?.providerStatus == nil)
    }

    /// Each provider, with seconds, and with a date (RFC 9110, 5.6.7).
    @Test(arguments: [429, 503])
    func `Retry-After of each provider is used`(status: Int) async {
        let bodies = ["", #"{"error":{"status":"\#(status == 429 ? "RESOURCE_EXHAUSTED" : "UNAVAILABLE")"}}"#]
        for body in bodies {
            let http = FakeHTTP(status, body, retryAfter: "12")
            for service in Providers.all(http) {
                #expect(await service.failure(Providers.search())?.retryAfter == .seconds(12))
            }
        }
        let over = FakeHTTP(status, #"{"status":"OVER_QUERY_LIMIT"}"#, retryAfter: "12")
        #expect(await Providers.legacy(over).failure(Providers.search())?.retryAfter == .seconds(12))
        let past = FakeHTTP(status, "", retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(await Providers.hotpepper(past).failure(Providers.search())?.retryAfter == nil)
        let far = FakeHTTP(status, "", retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(await Providers.hotpepper(far).failure(Providers.search())?.retryAfter == .seconds(3600))
    }
}
