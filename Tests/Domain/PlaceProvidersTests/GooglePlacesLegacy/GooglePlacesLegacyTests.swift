import HTTPTransport
@testable import LocationSearch
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

    @Test func `Every member of a place is read`() async throws {
        let answer = try await Providers.legacy(FakeHTTP(Self.page(Self.full, more: #","next_page_token":"tok""#))).ask(
            Providers.search())
        #expect(
            answer.places == [
                Place(
                    id: "ChIJold1", provider: .googlePlacesLegacy, name: "Soba Mihon", category: "restaurant",
                    types: ["restaurant", "food"], location: Coordinate(latitude: 35.25, longitude: 139.5),
                    address: "架空町4", rating: 3.9, ratingCount: 44, priceLevel: 1, openNow: true,
                    business: .init(status: .operational))
            ])
        #expect(answer.nextPageToken == "tok")
        #expect(answer.attributions.contains("Google Maps") && answer.attributions.contains("Listings by <b>X</b>"))
    }

    /// The API takes whole metres. With an order by distance it takes no radius, and the worker applies the request's.
    @Test func `The answer has the radius that was sent`() async throws {
        let service = Providers.legacy(FakeHTTP(Self.page(Self.full)))
        for token in [nil, "t"] {
            let answer = try await service.ask(Providers.search(radius: 1499.5, pageToken: token))
            #expect(answer.radiusMeters == 1500)
        }

        var byDistance = Providers.search(radius: 1499.5)
        byDistance.options = SearchOptions(ranking: .distance)
        #expect(try await service.ask(byDistance).radiusMeters == nil)
    }

    @Test func `The page of a place takes precedence over its website`() async throws {
        let http = FakeHTTP(
            #"{"html_attributions":[],"result":{"place_id":"p","name":"P","url":"https://maps.example/p","website":"https://p.example"},"status":"OK"}"#
        )
        let place = try #require(try await Providers.legacy(http).ask(Providers.details("p")).places.first)
        #expect(place.name == "P" && place.url == "https://maps.example/p" && place.location == nil)
    }

    /// The redirect is read, not followed; the picture's URL has no key.
    @Test func `The URL of a photo is that of the redirect`() async throws {
        func http(_ location: String?) -> FakeHTTP {
            FakeHTTP([
                .success(HTTPResponse(200, #"{"result":\#(Self.full),"status":"OK"}"#)),
                .success(HTTPResponse(302, "<HTML>moved", location: location)),
            ])
        }
        let answer = try await Providers.legacy(http("https://pictures.example/2")).ask(Providers.photo("ChIJold1"))
        #expect(answer.photoURL == "https://pictures.example/2")
        for bad in [nil, "http://plain.example", "https://x.example/?key=\(Providers.key)"] {
            #expect(await Providers.legacy(http(bad)).failure(Providers.photo("ChIJold1"))?.code == .badResponse)
        }
    }

    /// A token becomes valid after a delay: INVALID_REQUEST means "not yet".
    @Test func `A page token that is not valid yet is sent again`() async throws {
        let notYet = HTTPResponse(200, Self.page("", status: "INVALID_REQUEST"))
        let good = HTTPResponse(200, Self.page(Self.full))
        let http = FakeHTTP([.success(notYet), .success(notYet), .success(good)])
        let service = Providers.legacy(http)
        #expect(try await service.ask(Providers.search(pageToken: "t")).places.count == 1)
        #expect(http.requests.count == 3)
    }

    @Test func `A page token that the server refuses is sent once`() async throws {
        let http = FakeHTTP([.success(HTTPResponse(414, "<html>Request-URI Too Large</html>"))])
        #expect(await Providers.legacy(http).failure(Providers.search(pageToken: "t"))?.code == .invalidRequest)
        #expect(http.requests.count == 1)
    }
}
