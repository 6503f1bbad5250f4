import HTTPTransport
import JSON
import LocationSearch
import ProviderCalls
import TestSupport
import Testing

@testable import PlaceProviders

/// The exact bytes of requests, for each provider and operation.
struct ProviderRequestTests {
    /// A search with every parameter.
    private static let everything = Providers.search(
        category: "cafe", radius: 1499.5, keyword: "抹茶 & \"latte\"", language: "zh-TW", openNow: true, limit: 50)
    private static let key = Providers.key

    private static func text(_ request: HTTPRequest) -> String {
        guard case .post(let body) = request.method else { return "GET" }
        return String(decoding: body, as: UTF8.self)
    }

    private static func sent(
        _ provider: ProviderID, _ request: SearchRequest, answers: [Result<HTTPResponse, HTTPError>] = []
    ) async -> [HTTPRequest] {
        let http = FakeHTTP(answers.isEmpty ? [.success(HTTPResponse(status: 500))] : answers)
        _ = await Providers.service(provider, http).failure(request)
        return http.requests
    }

    private static func ok(_ body: String) -> Result<HTTPResponse, HTTPError> { .success(HTTPResponse(200, body)) }

    @Test func `Hot Pepper gets these requests`() async {
        var request = Self.everything
        request.openNow = nil
        request.pageToken = "21"
        let searches = await Self.sent(.hotpepper, request)
        #expect(
            searches.map(\.url) == [
                "https://hot.test/hotpepper/gourmet/v1/?key=\(Self.key)&lat=35.6895&lng=139.6917123&range=4"
                    + "&keyword=%E6%8A%B9%E8%8C%B6%20%26%20%22latte%22&genre=G014&start=21&count=50&type=lite&format=json"
            ])
        let details = await Self.sent(.hotpepper, Providers.details("J009900001", language: "ja"))
        #expect(
            details.map(\.url) == [
                "https://hot.test/hotpepper/gourmet/v1/?key=\(Self.key)&id=J009900001&type=lite&format=json"
            ])
        let photo = await Self.sent(.hotpepper, Providers.photo("J009900001"))
        #expect(
            photo.map(\.url) == [
                "https://hot.test/hotpepper/gourmet/v1/?key=\(Self.key)&id=J009900001&format=json"
            ])
        #expect(searches.allSatisfy { Self.text($0) == "GET" && $0.headers.isEmpty })
    }

    /// A comma would separate keywords.
    @Test func `Hot Pepper gets blanks for the commas of a keyword`() async {
        var request = Providers.search()
        request.keyword = "ラ,b,,"
        let url = await Self.sent(.hotpepper, request).first?.url
        #expect(url?.contains("&keyword=%E3%83%A9%20b%20%20&") == true)
    }

    @Test(arguments: [
        ("Restaurant", ""), ("食べ物", nil), ("居酒屋", "G001"), ("IZAKAYA", "G001"), ("お好み焼き・もんじゃ", "G016"),
        ("ramen_restaurant", "G013"), ("ramen_restauranx", nil), ("g017", "G017"), ("G17", nil), ("hospital", nil),
        ("", nil),
    ])
    func `Hot Pepper has a genre for a category`(category: String, genre: String?) {
        #expect(HotpepperRequests.genre(for: category) == genre)
    }

    @Test(arguments: [Providers.search(), Providers.details("J009900001"), Providers.photo("J009900001")])
    func `Hot Pepper returns everything with the setting full`(request: SearchRequest) async {
        let http = FakeHTTP("")
        _ = await Providers.hotpepper(http, response: .full).failure(request)
        #expect(http.requests.count == 1)
        #expect(http.requests.allSatisfy { !$0.url.contains("type=") })
    }

    private static let searchMask =
        "places.id,places.displayName,places.formattedAddress,places.location,places.types,places.primaryType,"
        + "places.primaryTypeDisplayName,places.googleMapsUri,places.businessStatus,places.attributions,places.rating,"
        + "places.userRatingCount,places.priceLevel,places.currentOpeningHours.openNow"

    private static func headers(_ request: HTTPRequest) -> [String] {
        request.headers.map { "\($0.name): \($0.value)" }
    }

    @Test(arguments: [(7, 7), (20, 20), (50, 20)])
    func `Google gets this nearby search`(limit: Int, count: Int) async {
        let sent = await Self.sent(
            .googlePlaces, Providers.search(category: "cafe", radius: 1499.5, language: "zh-TW", limit: limit))
        #expect(sent.map(\.url) == ["https://new.test/v1/places:searchNearby"])
        #expect(
            Self.headers(sent[0]) == [
                "Content-Type: application/json", "X-Goog-Api-Key: \(Self.key)", "X-Goog-FieldMask: \(Self.searchMask)",
            ])
        #expect(
            Self.text(sent[0])
                == #"{"includedTypes":["cafe"],"maxResultCount":\#(count),"languageCode":"zh-TW","locationRestriction":{"circle":{"center":{"latitude":35.6895,"longitude":139.6917123},"radius":1499.5}}}"#
        )
    }

    @Test func `Google gets this text search`() async {
        let sent = await Self.sent(.googlePlaces, Self.everything)
        #expect(sent.map(\.url) == ["https://new.test/v1/places:searchText"])
        #expect(Self.headers(sent[0]).last == "X-Goog-FieldMask: \(Self.searchMask),nextPageToken")
        let body = Self.text(sent[0])
        #expect(
            body.hasPrefix(
                #"{"textQuery":"抹茶 & \"latte\"","includedType":"cafe","pageSize":20,"languageCode":"zh-TW","openNow":true,"locationRestriction":{"rectangle":{"low":{"latitude":"#
            ))
        #expect(!body.contains("pageToken"))
    }

    @Test func `The next page of a text search repeats the request`() async {
        var next = Self.everything
        next.pageToken = "token/+ \"1\""
        let (first, second) = await (Self.sent(.googlePlaces, Self.everything), Self.sent(.googlePlaces, next))
        #expect(Self.text(second[0]) == Self.text(first[0]).dropLast() + #","pageToken":"token/+ \"1\""}"#)
    }

    @Test func `Google gets these requests for details and a photo`() async {
        let details = await Self.sent(.googlePlaces, Providers.details("ChIJ_x-1?a/b", language: "ja"))
        #expect(details.map(\.url) == ["https://new.test/v1/places/ChIJ_x-1%3Fa%2Fb?languageCode=ja"])
        let mask = Self.searchMask.replacing("places.", with: "") + ",photos,websiteUri"
        #expect(Self.headers(details[0]) == ["X-Goog-Api-Key: \(Self.key)", "X-Goog-FieldMask: \(mask)"])

        let photo = await Self.sent(
            .googlePlaces, Providers.photo("p1"),
            answers: [Self.ok(#"{"photos":[{"name":"places/p1/photos/A b/é"}]}"#), Self.ok("{}")])
        #expect(
            photo.map(\.url) == [
                "https://new.test/v1/places/p1",
                "https://new.test/v1/places/p1/photos/A%20b/%C3%A9/media?maxWidthPx=800&skipHttpRedirect=true",
            ])
        #expect(Self.headers(photo[0]) == ["X-Goog-Api-Key: \(Self.key)", "X-Goog-FieldMask: photos,attributions"])
        #expect(Self.headers(photo[1]) == ["X-Goog-Api-Key: \(Self.key)"])
    }

    @Test func `Google's older service gets these requests`() async {
        let search = await Self.sent(.googlePlacesLegacy, Self.everything)
        #expect(
            search.map(\.url) == [
                "https://old.test/maps/api/place/nearbysearch/json?location=35.6895%2C139.6917123&radius=1500&type=cafe"
                    + "&keyword=%E6%8A%B9%E8%8C%B6%20%26%20%22latte%22&language=zh-TW&opennow&key=\(Self.key)"
            ])
        // With a page token the service would ignore all other parameters.
        let next = await Self.sent(.googlePlacesLegacy, Providers.search(keyword: "x", pageToken: "t/1"))
        #expect(
            next.map(\.url) == [
                "https://old.test/maps/api/place/nearbysearch/json?pagetoken=t%2F1&key=\(Self.key)"
            ])
        let details = await Self.sent(.googlePlacesLegacy, Providers.details("ChIJ x", language: "ja"))
        #expect(
            details.map(\.url) == [
                "https://old.test/maps/api/place/details/json?place_id=ChIJ%20x&fields=place_id%2Cname%2Cformatted_address%2Cvicinity"
                    + "%2Cgeometry%2Flocation%2Ctypes%2Crating%2Cuser_ratings_total%2Cprice_level%2Copening_hours%2Fopen_now"
                    + "%2Curl%2Cwebsite%2Cphotos%2Cbusiness_status&language=ja&key=\(Self.key)"
            ])
        let photo = await Self.sent(
            .googlePlacesLegacy, Providers.photo("p1"),
            answers: [
                Self.ok(#"{"result":{"photos":[{"photo_reference":"R/+1"},{"photo_reference":"R2"}]},"status":"OK"}"#),
                Self.ok(""),
            ])
        #expect(
            photo.map(\.url) == [
                "https://old.test/maps/api/place/details/json?place_id=p1&fields=photos&key=\(Self.key)",
                "https://old.test/maps/api/place/photo?photo_reference=R%2F%2B1&maxwidth=800&key=\(Self.key)",
            ])
        #expect((search + next + details + photo).allSatisfy { Self.text($0) == "GET" && $0.headers.isEmpty })
    }

    /// `opennow` applies by its presence. A keyword that repeats the type would find nothing.
    @Test func `A filter that is off and a keyword equal to the type are not sent`() async {
        let url = await Self.sent(
            .googlePlacesLegacy, Providers.search(category: "hospital", keyword: "Hospital", openNow: false))[0].url
        #expect(!url.contains("opennow"))
        #expect(!url.contains("keyword"))
        #expect(url.contains("&type=hospital&"))
        let body = Self.text(await Self.sent(.googlePlaces, Providers.search(openNow: false))[0])
        #expect(!body.contains("openNow"))
    }

    // MARK: - Coordinates

    @Test(
        arguments: [
            (0, "0"), (-0.0, "0"), (35.5, "35.5"), (-139.691706, "-139.691706"), (1e-7, "0.0000001"),
            (-1e-7, "-0.0000001"),
            (4.9e-8, "0"), (179.99999996, "180"), (-90, "-90"), (0.1 + 0.2, "0.3"), (139.69171234567, "139.6917123"),
        ] as [(Double, String)])
    func `Coordinates are short plain decimals`(degrees: Double, text: String) async {
        #expect(degrees.plainDecimal == text)
        var request = Providers.search()
        request.location = Coordinate(latitude: degrees / 2, longitude: degrees)
        #expect(await Self.sent(.hotpepper, request)[0].url.contains("&lng=\(text)&"))
        #expect(await Self.sent(.googlePlacesLegacy, request)[0].url.contains("%2C\(text)&radius="))
        #expect(Self.text(await Self.sent(.googlePlaces, request)[0]).contains("\"longitude\":\(text)}"))
    }

    // MARK: - Page tokens of the legacy service

    private static let notYet = HTTPResponse(200, #"{"status":"INVALID_REQUEST"}"#)

    /// After three retries, each two seconds later, the token is invalid.
    @Test func `A token that stays invalid is refused after four calls`() async throws {
        let http = FakeHTTP([.success(Self.notYet)])
        let service = Providers.legacy(http)
        let request = Providers.search(pageToken: "t")
        var followUp: FollowUpCall?
        for number in 2...4 {
            guard case .needsCall(let next) = try await service.reply(to: request, followUp: followUp) else {
                Issue.record("call \(number - 1) was answered")
                return
            }
            #expect(next.number == number)
            #expect(next.delay == .seconds(2))
            #expect(next.failureIfLate.code == .invalidRequest)
            followUp = next
        }
        let last = followUp
        let error = await #expect(throws: SearchError.self) { try await service.reply(to: request, followUp: last) }
        #expect(error?.code == .invalidRequest)
        #expect(http.requests.count == 4)
    }

    @Test func `Only a new page token is retried`() async {
        let refused = HTTPResponse(200, #"{"status":"REQUEST_DENIED"}"#)
        for (answer, token) in [(Self.notYet, nil), (refused, "t")] {
            let http = FakeHTTP([.success(answer)])
            #expect(await Providers.legacy(http).failure(Providers.search(pageToken: token)) != nil)
            #expect(http.requests.count == 1)
        }
    }

    // MARK: - Pictures

    @Test func `A picture of a quota notice is no photo, and a redirect is one`() async throws {
        let photos = Self.ok(#"{"photos":[{"name":"places/p1/photos/r"}]}"#)
        func media(_ status: Int, _ body: String, _ location: String? = nil) -> GooglePlacesService {
            Providers.google(FakeHTTP([photos, .success(HTTPResponse(status, body, location: location))]))
        }
        let photo = Providers.photo("p1")
        #expect(
            try await media(302, "", "https://pictures.example/3").ask(photo).photoURL == "https://pictures.example/3")
        let found = #"{"photoUri":"https://pictures.example/3"}"#
        #expect(try await media(200, found).ask(photo).photoURL == "https://pictures.example/3")
        #expect(await media(302, "", "http://plain.example").failure(photo)?.code == .upstreamRejected)
        #expect(await media(403, "\u{89}PNG").failure(photo)?.code == .rateLimited)
        #expect(await media(403, #"{"error":{"status":"PERMISSION_DENIED"}}"#).failure(photo)?.code == .unauthorized)
        #expect(await media(429, "").failure(photo)?.code == .rateLimited)
        #expect(await media(200, #"{"photoUri":"http://plain.example"}"#).failure(photo)?.code == .badResponse)
        #expect(await media(200, "{}").failure(photo)?.code == .badResponse)

        let details = Self.ok(#"{"result":{"photos":[{"photo_reference":"r"}]},"status":"OK"}"#)
        for (status, code) in [
            (403, SearchError.Code.rateLimited), (400, .upstreamRejected), (200, .upstreamRejected),
            (500, .upstreamUnavailable),
        ] {
            let http = FakeHTTP([details, .success(HTTPResponse(status, "\u{89}PNG"))])
            #expect(await Providers.legacy(http).failure(photo)?.code == code)
        }
    }
}
