import HTTPTransport
import LocationSearch
import ProviderCalls
import Testing

@testable import PlaceProviders

/// A provider that repeats our key in its answer: the key reaches no event, neither in a result nor in an error.
struct RepeatedKeyTests {
    /// All in one case, with only characters that a provider's status name may have.
    private static let key = "SECRET0123456789"

    private func failure(
        _ provider: ProviderID, _ status: Int, _ body: String, key: String = key
    ) async -> SearchError? {
        await Providers.service(provider, FakeHTTP(status, body), key: key).failure(Providers.search())
    }

    private func answers(repeating status: String) -> [(ProviderID, Int, String)] {
        [
            (.googlePlaces, 403, #"{"error":{"code":403,"status":"\#(status)","message":"key \#(status)"}}"#),
            (.googlePlaces, 400, #"{"error":{"status":"\#(status)","details":[{"reason":"API_KEY_INVALID"}]}}"#),
            (.googlePlaces, 429, #"{"error":{"status":"\#(status)"}}"#),
            (.googlePlacesLegacy, 200, #"{"status":"\#(status)","error_message":"\#(status)"}"#),
            (.googlePlacesLegacy, 500, #"{"status":"\#(status)"}"#),
        ]
    }

    @Test(arguments: [key, "BAD_KEY_" + key, key.lowercased(), #"\u0053ECRET0123456789"#])
    func `A status that repeats the key is left out`(status: String) async throws {
        for (provider, httpStatus, body) in answers(repeating: status) {
            let error = try #require(await failure(provider, httpStatus, body))
            #expect(error.providerStatus == nil, "\(provider) \(httpStatus)")
            #expect(!error.message.lowercased().contains(Self.key.lowercased()))
            #expect(error.httpStatus == httpStatus, "the rest of the failure stays")
        }
    }

    @Test func `A status that does not repeat the key stays`() async throws {
        for (provider, httpStatus, body) in answers(repeating: "SECRET_OTHER") {
            let error = try #require(await failure(provider, httpStatus, body))
            #expect(error.providerStatus == "SECRET_OTHER")
        }
    }

    /// A key of digits may come back as a number.
    @Test func `A number that is the key is left out`() async throws {
        let body = #"{"results":{"error":[{"code":1234567890123,"message":"no"}]}}"#
        let error = try #require(await failure(.hotpepper, 200, body, key: "1234567890123"))
        #expect(error.code == .upstreamRejected)
        #expect(error.providerStatus == nil)
    }

    // MARK: - Escaped spellings

    /// Spellings of the key: in JSON escapes, percent-encoded, as character references, and nested combinations.
    private static let spellings = [
        key, "%53ECRET0123456789", "%53%45%43%52%45%54%30%31%32%33%34%35%36%37%38%39", "%2553ECRET0123456789",
        "&#83;ECRET0123456789", "&#x53;ECRET012345678&#57;", "&#83ECRET0123456789", #"\\u0053ECRET0123456789"#,
        "%26%2383%3BECRET0123456789", #"\u0053ECRET0123456789"#,
    ]

    @Test(arguments: spellings)
    func `A result that repeats the key is refused`(spelling: String) async throws {
        let shop = #"{"id":"J001","name":"A","urls":{"pc":"https://shop.test/?q=\#(spelling)&r=1"}}"#
        let body = #"{"results":{"results_available":1,"shop":[\#(shop)]}}"#
        let error = try #require(await failure(.hotpepper, 200, body), "\(spelling)")
        #expect(error.code == .badResponse)
        #expect(error.message.contains("contains the API key"))
    }

    @Test(arguments: [
        "100% SECRET", "%E3%81%82%53", "SECRET&amp;0123456789", "%", "%5", "&#", "&#x;", #"\\u00"#, "&#99999999;",
        "%53ECRET-0123456789",
    ])
    func `A result with other escapes is accepted`(text: String) async {
        let shop = #"{"id":"J001","name":"A","address":"\#(text)"}"#
        let body = #"{"results":{"results_available":1,"shop":[\#(shop)]}}"#
        #expect(await failure(.hotpepper, 200, body) == nil, "\(text)")
    }

    @Test func `A redirect that contains the key is refused`() async throws {
        let found = #"{"status":"OK","result":{"place_id":"p","name":"A","photos":[{"photo_reference":"r"}]}}"#
        let picture = HTTPResponse(302, "", location: "https://pictures.test/%53ECRET0123456789")
        let http = FakeHTTP([.success(HTTPResponse(200, found)), .success(picture)])
        let service = Providers.service(.googlePlacesLegacy, http, key: Self.key)
        let error = try #require(await service.failure(Providers.photo("p")))
        #expect(error.code == .badResponse)
        #expect(error.message.contains("contains the API key"))
    }
}
