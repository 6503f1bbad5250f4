import Basics
import HTTPTransport
import LocationSearch
import ProviderCalls
import Resilience
import TestSupport
import Testing

@testable import PlaceProviders

/// A provider is closed for every request by an answer that rejects the key, but not by one that forbids a single request.
struct RefusedKeyTests {
    private static let answers: [ProviderID: String] = [
        .hotpepper: #"{"results":{"results_available":0,"shop":[]}}"#, .googlePlaces: "{}",
        .googlePlacesLegacy: #"{"results":[],"status":"ZERO_RESULTS"}"#,
    ]

    /// The answer of a firewall in front of a provider to a request that it blocks.
    private static let forbidden = HTTPResponse(403, "<html><h1>403 Forbidden</h1></html>")

    /// Sends searches one after another through all limits of a provider.
    /// - Returns: the code of each failure, `nil` for an answer.
    private static func codes(
        of keywords: [String], from provider: ProviderID, _ http: FakeHTTP
    ) throws -> [SearchError.Code?] {
        let time = VirtualTime()
        let worker = SearchActor(time)
        var codes: [SearchError.Code?] = []
        for keyword in keywords {
            let report = try worker.begin(
                Providers.search(keyword: keyword), at: [Providers.service(provider, http)],
                before: Deadline(time.now + .seconds(30))
            ).finish(within: .seconds(30))
            switch report.result {
            case .success: codes.append(nil)
            case .failure(let error): codes.append(error.code)
            }
        }
        return codes
    }

    @Test(arguments: ProviderID.allCases)
    func `One forbidden keyword does not close the provider for others`(provider: ProviderID) throws {
        let http = FakeHTTP([
            .success(Self.forbidden), .success(HTTPResponse(200, try #require(Self.answers[provider]))),
        ])
        let codes = try Self.codes(of: ["' OR 1=1 --", "ramen", "sushi"], from: provider, http)
        #expect(codes == [.unauthorized, nil, nil])
        #expect(http.requests.count == 3)
    }

    /// If a front end rejects a key without a reason, the breaker opens after failing calls, as in any outage.
    @Test(arguments: ProviderID.allCases)
    func `A provider that forbids everything is closed soon`(provider: ProviderID) throws {
        let http = FakeHTTP([.success(Self.forbidden)])
        let codes = try Self.codes(of: (0..<30).map { "keyword \($0)" }, from: provider, http)
        #expect(codes.prefix(20).allSatisfy { $0 == .unauthorized })
        #expect(http.requests.count == 20)
    }

    /// The answers with which each provider rejects a key, or a project.
    static let refusals: [(ProviderID, status: Int, body: String)] = [
        (.hotpepper, 200, #"{"results":{"error":[{"code":2000,"message":"key"}]}}"#),
        (.hotpepper, 403, #"{"results":{"error":[{"code":2000,"message":"key"}]}}"#), (.hotpepper, 401, ""),
        (.googlePlaces, 400, #"{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#),
        (.googlePlaces, 403, #"{"error":{"details":[{"reason":"API_KEY_SERVICE_BLOCKED"}]}}"#),
        (.googlePlaces, 403, #"{"error":{"status":"PERMISSION_DENIED"}}"#), (.googlePlaces, 401, "<html>"),
        (.googlePlacesLegacy, 200, #"{"status":"REQUEST_DENIED"}"#),
        (.googlePlacesLegacy, 403, #"{"status":"REQUEST_DENIED"}"#),
    ]
    @Test(arguments: refusals)
    func `An answer that rejects the key closes the provider at once`(
        provider: ProviderID, status: Int, body: String
    ) throws {
        let http = FakeHTTP(status, body)
        let codes = try Self.codes(of: ["ramen", "sushi"], from: provider, http)
        #expect(codes.first == .unauthorized)
        #expect(http.requests.count == 1)
    }
}
