import HTTPTransport
import LocationSearch
import Testing

@testable import PlaceProviders

struct GooglePlacesLegacyTests {
    private static let full = """
        {"business_status":"OPERATIONAL","geometry":{"location":{"lat":35.25,"lng":"139.5"},"viewport":{}},"icon":"x","name":"Soba Mihon",
        "opening_hours":{"open_now":true},"photos":[{"height":1,"html_attributions":["<a href=\\"https://m.example/1\\">Ann</a>"],"photo_reference":"REF1"}],
        "place_id":"ChIJold1","price_level":1,"rating":3.9,"types":["restaurant","food"],"user_ratings_total":44,"vicinity":"架空町4"}
        """

    private static func page(_ results: String, status: String = "OK", more: String = "") -> String {
        #"{"html_attributions":["Listings by <b>X</b>"],"results":[\#(results)],"status":"\#(status)"\#(more)}"#
    }

    @Test func `Every member of a place is taken over`() async throws {
        let answer = try await Providers.legacy(FakeHTTP(Self.page(Self.full, more: #","next_page_token":"tok""#))).ask(
            Providers.search())
        #expect(
            answer.places == [
                Place(
                    id: "ChIJold1", provider: .googlePlacesLegacy, name: "Soba Mihon", category: "restaurant",
                    types: ["restaurant", "food"], location: Coordinate(latitude: 35.25, longitude: 139.5),
                    address: "架空町4", rating: 3.9, ratingCount: 44, priceLevel: 1, openNow: true)
            ])
        #expect(answer.nextPageToken == "tok")
        #expect(answer.attributions.contains("Google Maps") && answer.attributions.contains("Listings by <b>X</b>"))
    }

    @Test func `Zero results are an answer`() async throws {
        let http = FakeHTTP(Self.page("", status: "ZERO_RESULTS"))
        #expect(try await Providers.legacy(http).ask(Providers.search()).places.isEmpty)
    }

    @Test(
        arguments: [
            (200, "INVALID_REQUEST", "", SearchError.Code.invalidRequest, true),
            (200, "REQUEST_DENIED", "", .unauthorized, false),
            (200, "OVER_QUERY_LIMIT", "Please wait.", .rateLimited, true),
            (200, "OVER_QUERY_LIMIT", "You have exceeded your daily request quota", .rateLimited, false),
            (200, "OVER_DAILY_LIMIT", "", .rateLimited, false), (200, "UNKNOWN_ERROR", "", .upstreamUnavailable, true),
            (200, "NEW_STATUS", "", .upstreamRejected, false), (500, "UNKNOWN_ERROR", "", .upstreamUnavailable, true),
        ] as [(Int, String, String, SearchError.Code, Bool)])
    func `Each status has its code`(
        httpStatus: Int, status: String, message: String, code: SearchError.Code, allowsAttempt: Bool
    ) async {
        let body = #"{"error_message":"\#(message)","html_attributions":[],"results":[],"status":"\#(status)"}"#
        let error = await Providers.legacy(FakeHTTP(httpStatus, body)).failure(Providers.search())
        #expect(error?.code == code)
        #expect(error?.providerStatus == status)
        if code == .rateLimited { #expect(error?.allowsAttempt == allowsAttempt) }
    }

    @Test(
        arguments: [
            (200, "", SearchError.Code.badResponse), (200, "<html>", .badResponse), (200, "{}", .badResponse),
            (200, #"{"status":"OK"}"#, .badResponse), (200, #"{"status":"OK","results":[{}]}"#, .badResponse),
            (502, "<html>", .upstreamUnavailable), (403, "<html>", .unauthorized), (429, "", .rateLimited),
        ] as [(Int, String, SearchError.Code)])
    func `Answer that cannot be read has its code`(status: Int, body: String, code: SearchError.Code) async {
        #expect(await Providers.legacy(FakeHTTP(status, body)).failure(Providers.search())?.code == code)
    }

    @Test func `Legacy details are read and their failures are not found`() async throws {
        let http = FakeHTTP(
            #"{"html_attributions":[],"result":{"place_id":"p","name":"P","url":"https://maps.example/p","website":"https://p.example"},"status":"OK"}"#
        )
        let place = try #require(try await Providers.legacy(http).ask(Providers.details("p")).places.first)
        #expect(place.name == "P" && place.url == "https://maps.example/p" && place.location == nil)
        #expect(
            http.requests[0].url.hasPrefix("https://old.test/maps/api/place/details/json?place_id=p&fields=place_id%2C")
        )
        for status in ["NOT_FOUND", "ZERO_RESULTS"] {
            let gone = FakeHTTP(#"{"html_attributions":[],"status":"\#(status)"}"#)
            #expect(await Providers.legacy(gone).failure(Providers.details("p"))?.code == .notFound)
        }
    }

    /// The redirect is read, not followed; the picture's URL has no key.
    @Test func `Photo URL is taken from the redirect`() async throws {
        func http(_ location: String?) -> FakeHTTP {
            FakeHTTP([
                .success(HTTPResponse(status: 200, body: Array(#"{"result":\#(Self.full),"status":"OK"}"#.utf8))),
                .success(HTTPResponse(status: 302, body: Array("<HTML>moved".utf8), location: location)),
            ])
        }
        let answer = try await Providers.legacy(http("https://pictures.example/2")).ask(Providers.photo("ChIJold1"))
        #expect(answer.photoURL == "https://pictures.example/2")
        for bad in [nil, "http://plain.example", "https://x.example/?key=\(Providers.key)"] {
            #expect(await Providers.legacy(http(bad)).failure(Providers.photo("ChIJold1"))?.code == .badResponse)
        }
    }

    /// A token becomes valid after a delay: INVALID_REQUEST means "not yet".
    @Test func `A fresh page token is asked for again`() async throws {
        let notYet = HTTPResponse(status: 200, body: Array(Self.page("", status: "INVALID_REQUEST").utf8))
        let good = HTTPResponse(status: 200, body: Array(Self.page(Self.full).utf8))
        let http = FakeHTTP([.success(notYet), .success(notYet), .success(good)])
        let service = Providers.legacy(http)
        #expect(try await service.ask(Providers.search(pageToken: "t")).places.count == 1)
        #expect(http.requests.count == 3)
    }
}
