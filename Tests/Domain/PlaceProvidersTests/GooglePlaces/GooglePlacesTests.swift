import Foundation
import HTTPTransport
@testable import LocationSearch
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
        _ = try await Providers.google(http).ask(Providers.search(keyword: keyword, openNow: openNow, pageToken: token))
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

    /// The box contains every point of the circle, also at the poles and the date line, and is no larger than needed.
    @Test(arguments: [
        (35.69, 139.7), (0, 0), (-33.8, 151.2), (64.1, -21.9), (10, 179.99), (10, -179.99), (84, 20), (89.9, 20),
        (-89.9, 0), (90, 0),
    ])
    func `The box of a text search contains its circle`(latitude: Double, longitude: Double) {
        let centre = Coordinate(latitude: latitude, longitude: longitude)
        for radius in [100.0, 1500, 50_000] {
            let (low, high) = GooglePlacesRequests.box(around: centre, radius: radius)
            #expect(low.isValid && high.isValid && low.latitude < high.latitude)
            for degrees in stride(from: 0.0, to: 360, by: 7.5) {
                let point = centre.point(at: degrees, metres: radius * 0.999_999)
                let isBetween =
                    low.longitude <= high.longitude
                    ? (low.longitude...high.longitude).contains(point.longitude)
                    : point.longitude >= low.longitude || point.longitude <= high.longitude
                // The sine hardly changes near a pole, so `point` is some tenths of a metre off there.
                let latitudes = low.latitude - 5e-6...high.latitude + 5e-6
                #expect(latitudes.contains(point.latitude) && isBetween, "\(radius) \(degrees)")
            }
            if abs(latitude) < 85 {
                let north = Coordinate(latitude: high.latitude, longitude: longitude)
                let east = Coordinate(latitude: latitude, longitude: high.longitude)
                #expect(abs(centre.distance(to: north) - radius) < 0.01 * radius + 0.01)
                #expect(centre.distance(to: east) < 1.1 * radius + 0.01)
            }
        }
    }
}

extension Coordinate {
    /// Returns the point at this distance along the great circle that starts in this direction, in degrees from north.
    fileprivate func point(at bearing: Double, metres: Double) -> Coordinate {
        let (angle, direction) = (metres / 6_371_008.8, bearing * .pi / 180)
        let (lat, lng) = (latitude * .pi / 180, longitude * .pi / 180)
        let north = asin(sin(lat) * cos(angle) + cos(lat) * sin(angle) * cos(direction))
        let east = lng + atan2(sin(direction) * sin(angle) * cos(lat), cos(angle) - sin(lat) * sin(north))
        let degrees = (east * 180 / .pi + 540).truncatingRemainder(dividingBy: 360) - 180
        return Coordinate(latitude: north * 180 / .pi, longitude: degrees)
    }
}
