import Basics
import HTTPTransport
import LocationSearch
import Testing

@testable import PlaceProviders
@testable import ProviderCalls

/// A page token from a provider's answer, through the outcome, to the next request.
struct PageTokenTests {
    private static let answers: [ProviderID: (body: String, ownToken: String)] = [
        .hotpepper: (#"{"results":{"results_available":40,"shop":[{"id":"J000000001","name":"A"}]}}"#, "2"),
        .googlePlaces: (#"{"places":[{"id":"a"}],"nextPageToken":"AeJ_/+=\"語"}"#, "AeJ_/+=\"語"),
        .googlePlacesLegacy: (
            #"{"results":[{"place_id":"a","name":"A"}],"status":"OK","next_page_token":"CpQC-AgE_x"}"#, "CpQC-AgE_x"
        ),
    ]

    /// Runs one search with all three providers configured.
    /// - Returns: the outcome, and the calls to each provider.
    private static func run(_ request: SearchRequest) async -> (
        outcome: SearchOutcome, calls: [ProviderID: [HTTPRequest]]
    ) {
        let http = answers.mapValues { FakeHTTP($0.body) }
        let services = http.map { Providers.service($0.key, $0.value) }
        let outcome = await outcome(
            of: request, from: ProviderSelection(services: services, order: [.googlePlaces, .hotpepper]))
        return (outcome, http.mapValues(\.requests).filter { !$0.value.isEmpty })
    }

    /// Asks the best candidate once, so that all calls that a test sees belong to one request.
    private static func outcome(of request: SearchRequest, from selection: ProviderSelection) async -> SearchOutcome {
        do throws(SearchError) {
            let addressed = try request.addressedToProviders()
            let provider = try selection.candidates(for: addressed)[0]
            let answer = try await provider.ask(addressed)
            var result = Result<ProviderAnswer, SearchError>.success(answer)
            return SearchPresenter().present(
                &result, of: [provider.id], costing: CallCost(attempts: 1), for: request)
        } catch {
            return SearchOutcome(of: request, failedWith: error)
        }
    }

    private static func firstPage(of provider: ProviderID, _ request: SearchRequest = search()) async throws -> String {
        var request = request
        request.provider = .named(provider)
        let (outcome, _) = await run(request)
        return try #require(try outcome.result.get().nextPageToken)
    }

    /// A search that all three can serve; Google answers it page by page.
    private static func search(pageToken: String? = nil) -> SearchRequest {
        Providers.search(category: "cafe", keyword: "抹茶", language: "ja", pageToken: pageToken)
    }

    /// Providers' own tokens, typing mistakes, and damaged copies of a token.
    @Test(arguments: ["garbage", "21", "CpQC-AgE_x", "~", "1h", "1h.AAAAAAAA.2", "1h.AAAAAAAA.", "9h.AAAAAAAA.2", "…"])
    func `A search with a foreign page token is refused without a call`(token: String) async {
        for provider in [.auto] + ProviderID.allCases.map(ProviderChoice.named) {
            var request = Self.search(pageToken: token)
            request.provider = provider
            let (outcome, calls) = await Self.run(request)

            guard case .failure(let error) = outcome.result else {
                Issue.record("\(provider) answered")
                continue
            }
            #expect(error.code == .invalidRequest)
            #expect(error.member == "pageToken")
            #expect(calls.isEmpty, "\(provider) was asked")
        }
    }

    @Test(arguments: ProviderID.allCases)
    func `The next page is requested from the token's provider`(provider: ProviderID) async throws {
        let token = try await Self.firstPage(of: provider)
        for choice in [ProviderChoice.auto, .named(provider)] {
            var request = Self.search(pageToken: token)
            request.provider = choice
            let (outcome, calls) = await Self.run(request)

            #expect((try? outcome.result.get()) != nil)
            #expect(outcome.provider == provider)
            #expect(calls.keys.elementsEqual([provider]))
            let call = try #require(calls[provider]?.first)
            #expect(Self.ownToken(in: call) == Self.answers[provider]?.ownToken)
        }
    }

    /// The provider's own token in a call.
    private static func ownToken(in call: HTTPRequest) -> String? {
        if case .post(let body) = call.method {
            let text = String(decoding: body, as: UTF8.self)
            return text.contains(#""pageToken":"AeJ_/+=\"語""#) ? "AeJ_/+=\"語" : nil
        }
        return call.url.split(separator: "&").flatMap { $0.split(separator: "?") }.compactMap { parameter in
            ["start=", "pagetoken="].first { parameter.hasPrefix($0) }.map { String(parameter.dropFirst($0.count)) }
        }.first
    }

    @Test(arguments: ProviderID.allCases)
    func `A token sent to another provider is refused without a call`(provider: ProviderID) async throws {
        let token = try await Self.firstPage(of: provider)
        for other in ProviderID.allCases where other != provider {
            var request = Self.search(pageToken: token)
            request.provider = .named(other)
            let (outcome, calls) = await Self.run(request)

            #expect(throws: SearchError.self) { try outcome.result.get() }
            guard case .failure(let error) = outcome.result else { continue }
            #expect(error.code == .invalidRequest && error.member == "pageToken")
            #expect(error.message.contains(provider.rawValue))
            #expect(calls.isEmpty)
        }
    }

    static let otherSearches: [(String, @Sendable (inout SearchRequest) -> Void)] = [
        ("category", { $0.category = "ramen" }), ("keyword", { $0.keyword = "抹茶 " }),
        ("no keyword", { $0.keyword = nil }), ("language", { $0.language = "en" }),
        ("no language", { $0.language = nil }), ("openNow", { $0.openNow = true }),
        ("radius", { $0.radiusMeters = 1501 }), ("latitude", { $0.location?.latitude += 0.000_001 }),
        ("longitude", { $0.location?.longitude = -139 }),
        ("words moved from one member to the next", { ($0.category, $0.keyword) = ("cafe抹", "茶") }),
    ]
    @Test(arguments: otherSearches)
    func `A token sent with another search is refused without a call`(
        name: String, change: @Sendable (inout SearchRequest) -> Void
    ) async throws {
        for provider in ProviderID.allCases {
            var request = Self.search(pageToken: try await Self.firstPage(of: provider))
            change(&request)
            let (outcome, calls) = await Self.run(request)

            guard case .failure(let error) = outcome.result else {
                Issue.record("\(provider) answered")
                continue
            }
            #expect(error.code == .invalidRequest && error.member == "pageToken")
            #expect(calls.isEmpty)
        }
    }

    @Test(arguments: ProviderID.allCases)
    func `The next page may have another limit, timeout and session`(provider: ProviderID) async throws {
        var request = Self.search(pageToken: try await Self.firstPage(of: provider))
        (request.limit, request.timeout, request.sessionID) = (7, .seconds(9), "s-2")
        request.requestID = "another"
        // `false` filters no more than an absent value.
        request.openNow = false
        let (outcome, _) = await Self.run(request)
        #expect((try? outcome.result.get()) != nil)
    }

    @Test(arguments: ProviderID.allCases)
    func `Details ignore a page token`(provider: ProviderID) async {
        var request = Providers.details(provider == .hotpepper ? "J000000001" : "a")
        (request.provider, request.pageToken) = (.named(provider), "garbage")
        let (_, calls) = await Self.run(request)
        #expect(calls[provider]?.count == 1)
    }

    @Test func `A token of a provider without a key is unauthorized`() async throws {
        let token = try await Self.firstPage(of: .hotpepper)
        let http = FakeHTTP(#"{"places":[]}"#)
        let selection = ProviderSelection(services: [Providers.google(http)])
        let outcome = await Self.outcome(of: Self.search(pageToken: token), from: selection)

        guard case .failure(let error) = outcome.result else { return #expect(Bool(false), "somebody answered") }
        #expect(error.code == .unauthorized)
        #expect(http.requests.isEmpty)
    }
}
