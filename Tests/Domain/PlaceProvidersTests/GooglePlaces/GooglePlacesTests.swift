import HTTPTransport
import LocationSearch
import Testing

@testable import PlaceProviders

struct GooglePlacesTests {
    private static let full = """
        {"name":"places/ChIJinvented1","id":"ChIJinvented1","types":["ramen_restaurant","restaurant"],"formattedAddress":"1-2 Chome, Nowhere",
        "location":{"latitude":35.5,"longitude":139.25},"rating":4.4,"userRatingCount":120,"priceLevel":"PRICE_LEVEL_MODERATE",
        "displayName":{"text":"Ramen 🍜","languageCode":"ja"},"primaryType":"ramen_restaurant","primaryTypeDisplayName":{"text":"Ramen restaurant"},
        "googleMapsUri":"https://maps.example/?cid=1","websiteUri":"http://ramen.example/","currentOpeningHours":{"openNow":false,"periods":[{}]},
        "regularOpeningHours":{"openNow":true},"attributions":[{"provider":"Listings Ltd","providerUri":"x"}],
        "photos":[{"name":"places/ChIJinvented1/photos/AB-c_1","authorAttributions":[{"displayName":"Ann O.","uri":"//x"}]},{"name":"second","authorAttributions":[{"displayName":"Bob"}]}]}
        """

    @Test func `Every member of a place is taken over`() async throws {
        let answer = try await Providers.google(FakeHTTP(#"{"places":[\#(Self.full)],"nextPageToken":"more"}"#)).ask(
            Providers.search())
        #expect(
            answer.places == [
                Place(
                    id: "ChIJinvented1", provider: .googlePlaces, name: "Ramen 🍜", category: "Ramen restaurant",
                    types: ["ramen_restaurant", "restaurant"], location: Coordinate(latitude: 35.5, longitude: 139.25),
                    address: "1-2 Chome, Nowhere", url: "https://maps.example/?cid=1", rating: 4.4, ratingCount: 120,
                    priceLevel: 2, openNow: false)
            ])
        #expect(answer.nextPageToken == "more")
        #expect(answer.attributions == ["Google Maps", "Listings Ltd", "Ann O."])
    }

    @Test(arguments: ["{}", " { } ", #"{"places":[]}"#, #"{"places":null}"#])
    func `Search that finds nothing is answered`(body: String) async throws {
        #expect(try await Providers.google(FakeHTTP(body)).ask(Providers.search()).places.isEmpty)
    }

    @Test func `Place with few members is taken`() async throws {
        let body =
            #"{"places":[{"id":"a","shortFormattedAddress":"Street 1"},{"id":"b","rating":0,"priceLevel":"PRICE_LEVEL_UNSPECIFIED"},{"displayName":{"text":"x"}},{"id":"a"}]}"#
        let answer = try await Providers.google(FakeHTTP(body)).ask(Providers.search())
        #expect(answer.places.map(\.name) == ["Street 1", "b"])
        #expect(answer.places[1].rating == nil && answer.places[1].priceLevel == nil)
        #expect(answer.unreadablePlaces == 1)
    }

    /// Nearby search has no keyword, no filter for open places and no pages.
    @Test(arguments: [("ramen", nil, nil), (nil, true, nil), (nil, nil, "token")] as [(String?, Bool?, String?)])
    func `Search that nearby cannot serve goes to text search`(keyword: String?, openNow: Bool?, token: String?)
        async throws
    {
        let http = FakeHTTP("{}")
        _ = try await Providers.google(http).ask(
            Providers.search(keyword: keyword, openNow: openNow, pageToken: token))
        #expect(http.requests[0].url == "https://new.test/v1/places:searchText")
        guard case .post(let bytes) = http.requests[0].method else { throw SearchError(.internal, "no POST") }
        let body = String(decoding: bytes, as: UTF8.self)
        #expect(body.contains(#""textQuery":"\#(keyword ?? "restaurant")""#))
        #expect(body.contains(#""openNow":true"#) == (openNow == true))
        #expect(body.contains(#""pageToken":"token""#) == (token != nil))
        #expect(body.contains(#""rectangle""#))
    }

    /// The search box has corners outside the circle.
    @Test func `Text search keeps to the circle`() async throws {
        let body =
            #"{"places":[{"id":"in","location":{"latitude":35.6895,"longitude":139.70}},{"id":"corner","location":{"latitude":35.7025,"longitude":139.708}}]}"#
        let answer = try await Providers.google(FakeHTTP(body)).ask(Providers.search(radius: 1500, keyword: "x"))
        #expect(answer.places.map(\.id) == ["in"])
    }

    @Test func `Details are one place`() async throws {
        let http = FakeHTTP(Self.full)
        let answer = try await Providers.google(http).ask(Providers.details("ChIJ/inv 1", language: "en"))
        #expect(answer.places.map(\.id) == ["ChIJinvented1"])
        #expect(http.requests[0].url == "https://new.test/v1/places/ChIJ%2Finv%201?languageCode=en")
    }

    @Test func `Photo takes two calls and its URL holds no key`() async throws {
        let http = FakeHTTP([
            .success(HTTPResponse(status: 200, body: Array(Self.full.utf8))),
            .success(
                HTTPResponse(status: 200, body: Array(#"{"name":"x","photoUri":"https://pictures.example/1"}"#.utf8))),
        ])
        let answer = try await Providers.google(http).ask(Providers.photo("ChIJinvented1"))
        #expect(answer.photoURL == "https://pictures.example/1")
        #expect(
            http.requests[1].url
                == "https://new.test/v1/places/ChIJinvented1/photos/AB-c_1/media?maxWidthPx=800&skipHttpRedirect=true")
        #expect(http.requests.allSatisfy { !$0.url.contains(Providers.key) })
        #expect(await Providers.google(FakeHTTP(#"{"id":"a"}"#)).failure(Providers.photo("a"))?.code == .notFound)
    }

    private static func error(_ code: Int, _ status: String, _ details: String = "", message: String = "m") -> String {
        #"{"error":{"code":\#(code),"message":"\#(message)","status":"\#(status)","details":[\#(details)]}}"#
    }

    @Test(
        arguments: [
            (
                400, error(400, "INVALID_ARGUMENT", #"{"@type":"t/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}"#),
                SearchError.Code.unauthorized
            ),
            (400, error(400, "INVALID_ARGUMENT"), .invalidRequest),
            (403, error(403, "PERMISSION_DENIED"), .unauthorized),
            (401, error(401, "UNAUTHENTICATED"), .unauthorized), (429, error(429, "RESOURCE_EXHAUSTED"), .rateLimited),
            (500, error(500, "INTERNAL"), .upstreamUnavailable), (503, error(503, "UNAVAILABLE"), .upstreamUnavailable),
            (503, "<html>", .upstreamUnavailable), (418, error(418, "NEW_STATUS"), .upstreamRejected),
            (404, "<html>", .upstreamRejected), (200, "<html>", .badResponse), (200, "", .badResponse),
            (200, #"{"places":[{"id":"#, .badResponse), (200, #"{"places":[{}]}"#, .badResponse),
            (200, #"{"places":7}"#, .badResponse), (200, #"{"places":{}}"#, .badResponse),
            (302, "", .upstreamRejected),
        ] as [(Int, String, SearchError.Code)])
    func `Each failure has its code`(status: Int, body: String, code: SearchError.Code) async {
        let error = await Providers.google(FakeHTTP(status, body)).failure(Providers.search())
        #expect(error?.code == code)
        #expect(error.map { !"\($0)".contains(Providers.key) } == true)
    }

    @Test func `Details of a bad place id end as not found`() async {
        let body = Self.error(400, "INVALID_ARGUMENT", message: "Not a valid Place ID: zzz")
        #expect(await Providers.google(FakeHTTP(400, body)).failure(Providers.details("zzz"))?.code == .notFound)
        let gone = Self.error(404, "NOT_FOUND")
        #expect(await Providers.google(FakeHTTP(404, gone)).failure(Providers.details("zzz"))?.code == .notFound)
    }

    @Test func `Retry info is heeded and a daily quota is no reason to try again`() async {
        let soon = Self.error(429, "RESOURCE_EXHAUSTED", #"{"@type":"t/google.rpc.RetryInfo","retryDelay":"1.5s"}"#)
        let wait = await Providers.google(FakeHTTP(429, soon)).failure(Providers.search())
        #expect(wait?.retryAfter == .milliseconds(1500))
        #expect(wait?.allowsAttempt == true)
        let daily = Self.error(
            429, "RESOURCE_EXHAUSTED",
            #"{"reason":"RATE_LIMIT_EXCEEDED","metadata":{"quota_limit":"SearchNearbyRequestsPerDay"}}"#)
        let day = await Providers.google(FakeHTTP(429, daily)).failure(Providers.search())
        #expect(day?.allowsAttempt == false)
        #expect((day?.retryAfter ?? .zero) >= .seconds(3600))
    }
}
