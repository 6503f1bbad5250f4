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

    @Test func `Every member of a place is read`() async throws {
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

    @Test func `A place with few members is accepted`() async throws {
        let body =
            #"{"places":[{"id":"a","shortFormattedAddress":"Street 1"},{"id":"b","rating":0,"priceLevel":"PRICE_LEVEL_UNSPECIFIED"},{"displayName":{"text":"x"}},{"id":"a"}]}"#
        let answer = try await Providers.google(FakeHTTP(body)).ask(Providers.search())
        #expect(answer.places.map(\.name) == ["Street 1", "b"])
        #expect(answer.places[1].rating == nil && answer.places[1].priceLevel == nil)
        #expect(answer.unreadablePlaces == 1)
    }

    /// Nearby search has no keyword, no filter for open places and no pages.
    @Test(arguments: [("ramen", nil, nil), (nil, true, nil), (nil, nil, "token")] as [(String?, Bool?, String?)])
    func `A search that nearby search does not support uses text search`(
        keyword: String?, openNow: Bool?, token: String?
    )
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
    @Test func `A text search returns only places within the circle`() async throws {
        let body =
            #"{"places":[{"id":"in","location":{"latitude":35.6895,"longitude":139.70}},{"id":"corner","location":{"latitude":35.7025,"longitude":139.708}}]}"#
        let answer = try await Providers.google(FakeHTTP(body)).ask(Providers.search(radius: 1500, keyword: "x"))
        #expect(answer.places.map(\.id) == ["in"])
    }
}
