import HTTPTransport
import LocationSearch
import ProviderCalls
import Testing

@testable import PlaceProviders

/// Valid answers of each provider, and answers of a gateway in front of it.
struct AnswerRuleTests {
    struct Answer: CustomTestStringConvertible, Sendable {
        let provider: ProviderID
        let operation: SearchOperation
        let body: String
        let code: SearchError.Code?
        let status: Int

        /// - Parameter code: `nil`: the answer is valid.
        init(
            _ provider: ProviderID, _ operation: SearchOperation, _ body: String, _ code: SearchError.Code?,
            status: Int = 200
        ) {
            (self.provider, self.operation, self.body, self.code) = (provider, operation, body, code)
            self.status = status
        }

        var testDescription: String { "\(provider.rawValue) \(operation): \(status) \(body)" }

        func failure() async -> SearchError? {
            await Providers.service(provider, FakeHTTP(status, body)).failure(Providers.request(operation))
        }
    }

    @Test(arguments: [
        Answer(.googlePlaces, .search, "{}", nil), Answer(.googlePlaces, .search, #"{"places":[]}"#, nil),
        Answer(.googlePlaces, .search, #"{"places":null,"message":"x"}"#, nil),
        Answer(.googlePlaces, .search, #"{"searchUri":"https://maps.example/"}"#, nil),
        Answer(.googlePlaces, .search, #"{"routingSummaries":[]}"#, nil),
        Answer(.googlePlaces, .search, #"{"message":"no route matched"}"#, .badResponse),
        Answer(.googlePlaces, .search, #"{"error":"forbidden"}"#, .badResponse),
        Answer(.googlePlaces, .search, #"{"error":{}}"#, .badResponse),
        Answer(.googlePlaces, .search, #"{"id":"7","name":"Error","status":500}"#, .badResponse),
        Answer(.googlePlaces, .search, #"{"results":[],"status":"OK"}"#, .badResponse),
        Answer(.googlePlaces, .details, #"{"message":"no route matched"}"#, .badResponse),
        Answer(.googlePlaces, .photo, #"{"message":"no route matched"}"#, .badResponse),
        Answer(.googlePlaces, .photo, "{}", .notFound), Answer(.googlePlaces, .photo, #"{"photos":[]}"#, .notFound),
        Answer(.googlePlacesLegacy, .search, #"{"results":[],"status":"ZERO_RESULTS"}"#, nil),
        Answer(.googlePlacesLegacy, .search, "{}", .badResponse),
        Answer(.googlePlacesLegacy, .search, #"{"status":"OK"}"#, .badResponse),
        Answer(.googlePlacesLegacy, .search, #"{"status":"error","message":"x"}"#, .badResponse),
        Answer(.googlePlacesLegacy, .search, #"{"status":500,"message":"x"}"#, .badResponse),
        Answer(.googlePlacesLegacy, .photo, #"{"message":"no route matched"}"#, .badResponse),
        Answer(.hotpepper, .search, #"{"results":{"shop":[]}}"#, nil), Answer(.hotpepper, .search, "{}", .badResponse),
        Answer(.hotpepper, .search, #"{"message":"no route matched"}"#, .badResponse),
        Answer(.hotpepper, .search, #"{"results":{"message":"x"}}"#, .badResponse),
        Answer(.hotpepper, .details, #"{"results":[]}"#, .badResponse),
        // No answer of the API, and statuses that no fixture has.
        Answer(.hotpepper, .search, #"{"results":{"error":[]},"a":"#, .badResponse),
        Answer(.hotpepper, .search, "", .badResponse), Answer(.hotpepper, .search, "[1,2]", .badResponse),
        Answer(.hotpepper, .search, "", .upstreamUnavailable, status: 301),
        Answer(.hotpepper, .search, "", .unauthorized, status: 403),
        Answer(.hotpepper, .search, "", .rateLimited, status: 429),
        Answer(.hotpepper, .search, "x", .upstreamUnavailable, status: 500),
        Answer(.hotpepper, .search, "", .upstreamRejected, status: 404),
        Answer(.googlePlaces, .search, " { } ", nil), Answer(.googlePlaces, .search, "", .badResponse),
        Answer(.googlePlaces, .search, #"{"places":[{"id":"#, .badResponse),
        Answer(.googlePlaces, .search, #"{"places":[{}]}"#, .badResponse),
        Answer(.googlePlaces, .search, #"{"places":7}"#, .badResponse),
        Answer(.googlePlaces, .search, #"{"places":{}}"#, .badResponse),
        Answer(.googlePlaces, .search, "", .upstreamRejected, status: 302),
        Answer(.googlePlaces, .photo, #"{"id":"a"}"#, .notFound),
        Answer(.googlePlacesLegacy, .search, "", .badResponse),
        Answer(.googlePlacesLegacy, .search, #"{"status":"OK","results":[{}]}"#, .badResponse),
        Answer(.googlePlacesLegacy, .search, "<html>", .upstreamUnavailable, status: 502),
        Answer(.googlePlacesLegacy, .search, "<html>", .unauthorized, status: 403),
        Answer(.googlePlacesLegacy, .search, "", .rateLimited, status: 429),
    ])
    func `An answer without a member of the API is a failure`(answer: Answer) async {
        let error = await answer.failure()
        #expect(error?.code == answer.code)
        error.map(ProviderFailureTests.checkPrivacy)
    }

    /// `auto` falls back to the next provider only after a failure that allows it.
    @Test func `The error of a gateway in front of Google allows a fallback`() async throws {
        let error = await Answer(.googlePlaces, .search, #"{"message":"x"}"#, nil).failure()
        #expect(error?.code.isRetryable == true)
    }

    // MARK: - Reasons

    private static func older(_ reason: String, code: Int = 403) -> String {
        #"{"error":{"errors":[{"domain":"usageLimits","reason":"\#(reason)","message":"m"}],"code":\#(code),"message":"m"}}"#
    }

    @Test(arguments: [
        ("rateLimitExceeded", SearchError.Code.rateLimited, true), ("userRateLimitExceeded", .rateLimited, true),
        ("quotaExceeded", .rateLimited, true), ("dailyLimitExceeded", .rateLimited, false),
        ("dailyLimitExceededUnreg", .rateLimited, false), ("keyInvalid", .unauthorized, false),
        ("accessNotConfigured", .unauthorized, false), ("ipRefererBlocked", .unauthorized, false),
        ("backendError", .upstreamUnavailable, true), ("forbidden", .unauthorized, false),
    ])
    func `The reason in Google's older format determines the code`(
        reason: String, code: SearchError.Code, allowsAttempt: Bool
    )
        async throws
    {
        for operation in [SearchOperation.search, .details, .photo] {
            let answer = Answer(.googlePlaces, operation, Self.older(reason), code, status: 403)
            let error = try #require(await answer.failure())
            #expect(error.code == code)
            #expect(error.allowsAttempt == allowsAttempt)
            #expect(error.retryAfter == (reason.hasPrefix("daily") ? .seconds(3600) : nil))
            #expect(error.isUnexplained == (reason == "forbidden"))
        }
    }

    /// Newer services send more specific reasons in addition to `errors`.
    @Test(arguments: [
        (
            #""errors":[{"reason":"badRequest"}],"details":[{"reason":"API_KEY_INVALID"}]"#,
            SearchError.Code.unauthorized
        ),
        (#""details":[{"reason":"API_KEY_INVALID"}],"errors":[{"reason":"badRequest"}]"#, .unauthorized),
        (#""errors":[{"reason":"forbidden"}],"status":"RESOURCE_EXHAUSTED""#, .rateLimited),
        (#""errors":[{"reason":"rateLimitExceeded"}],"status":"PERMISSION_DENIED""#, .rateLimited),
        (#""errors":[],"status":"PERMISSION_DENIED""#, .unauthorized),
    ])
    func `A reason in details precedes the older format, which precedes the status`(
        members: String, code: SearchError.Code
    ) async {
        let answer = Answer(.googlePlaces, .search, #"{"error":{"code":403,\#(members)}}"#, code, status: 403)
        #expect(await answer.failure()?.code == code)
    }

    @Test func `A daily quota is recognised by its id`() async {
        let body =
            #"{"error":{"code":403,"details":[{"reason":"quotaExceeded","metadata":{"quota_limit":"SearchPerDayPerProject"}}]}}"#
        let error = await Answer(.googlePlaces, .search, body, .rateLimited, status: 403).failure()
        #expect(error?.code == .rateLimited && error?.allowsAttempt == false)
    }

    // MARK: - Texts

    private static let replaced = "a\u{FFFD}b"
    private static let spoiltTexts: [(name: String, bytes: [UInt8])] = [
        ("a raw line feed", [0x61, 0x0A, 0x62]), ("NUL", [0x61, 0x00, 0x62]), ("not UTF-8", [0x61, 0xFF, 0x62]),
        ("half a pair of surrogates", Array(#"a\ud83db"#.utf8)),
        ("escapes beside a raw tab", Array(#"\u0061"#.utf8) + [0x09, 0x62]),
    ]

    @Test(arguments: spoiltTexts.map(\.name))
    func `A damaged text costs a character and not the answer`(name: String) async throws {
        let text = try #require(Self.spoiltTexts.first { $0.name == name }).bytes
        let bodies: [(ProviderID, String)] = [
            (.hotpepper, #"{"results":{"shop":[{"id":"J1","name":"TEXT"},{"id":"J2","name":"c","address":"TEXT"}]}}"#),
            (
                .googlePlaces,
                #"{"places":[{"id":"J1","displayName":{"text":"TEXT"}},{"id":"J2","displayName":{"text":"c"},"formattedAddress":"TEXT"}]}"#
            ),
            (
                .googlePlacesLegacy,
                #"{"results":[{"place_id":"J1","name":"TEXT"},{"place_id":"J2","name":"c","vicinity":"TEXT"}],"status":"OK"}"#
            ),
        ]
        for (provider, body) in bodies {
            let parts = body.split(separator: "TEXT", omittingEmptySubsequences: false).map { Array($0.utf8) }
            let http = FakeHTTP(bytes: Array(parts.joined(separator: text)))
            let answer = try await Providers.service(provider, http).ask(Providers.search())
            #expect(answer.places.map(\.name) == [Self.replaced, "c"], "\(provider)")
            #expect(answer.places.last?.address == Self.replaced, "\(provider)")
            #expect(answer.unreadablePlaces == 0)
        }
    }

    @Test func `A damaged message of an error does not hide its reason`() async {
        let body = #"{"error":{"code":403,"message":"a\#n\#tb","errors":[{"reason":"rateLimitExceeded"}]}}"#
        #expect(await Answer(.googlePlaces, .search, body, nil, status: 403).failure()?.code == .rateLimited)
    }

    @Test func `A control character outside a string is no JSON`() async {
        let body = "{\"results\":\u{01}{\"shop\":[]}}"
        #expect(await Answer(.hotpepper, .search, body, nil).failure()?.code == .badResponse)
    }
}
