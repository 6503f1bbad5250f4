import HTTPTransport
import LocationSearch
import ProviderCalls
import Testing

@testable import PlaceProviders

/// What each provider makes of `categories`, `excludeCategories`, `rankBy` and `include`.
struct SearchOptionsTests {
    private static func search(
        _ options: SearchOptions, keyword: String? = nil, openNow: Bool? = nil, pageToken: String? = nil
    ) -> SearchRequest {
        var request = Providers.search(keyword: keyword, openNow: openNow, pageToken: pageToken)
        request.options = options
        return request
    }

    private static func details(_ parts: Set<SearchOptions.Part>) -> SearchRequest {
        var request = Providers.details("p1")
        request.options = SearchOptions(parts: parts)
        return request
    }

    private static func sent(_ provider: ProviderID, _ request: SearchRequest) async -> HTTPRequest {
        let http = FakeHTTP([.success(HTTPResponse(status: 500))])
        _ = await Providers.service(provider, http).failure(request)
        return http.requests[0]
    }

    private static func body(_ options: SearchOptions, keyword: String? = nil) async -> String {
        guard case .post(let body) = await sent(.googlePlaces, search(options, keyword: keyword)).method else {
            return ""
        }
        return String(decoding: body, as: UTF8.self)
    }

    // MARK: Google Places (New)

    static let nearby: [(SearchOptions, String)] = [
        (SearchOptions(categories: ["cafe", "bar"]), #"{"includedTypes":["cafe","bar"],"maxResultCount":20,"#),
        (
            SearchOptions(categories: ["primary:cafe", "primary:bar"], excludedCategories: ["pub"]),
            #"{"excludedTypes":["pub"],"includedPrimaryTypes":["cafe","bar"],"maxResultCount":20,"#
        ),
        (
            SearchOptions(excludedCategories: ["primary:pub", "cafe", "primary:bar"], ranking: .distance),
            #"{"includedTypes":["restaurant"],"excludedTypes":["cafe"],"excludedPrimaryTypes":["pub","bar"],"rankPreference":"DISTANCE","maxResultCount":20,"#
        ),
        (
            SearchOptions(ranking: .popularity),
            #"{"includedTypes":["restaurant"],"rankPreference":"POPULARITY","maxResultCount":20,"#
        ),
        (SearchOptions(parts: [.openingHours]), #"{"includedTypes":["restaurant"],"maxResultCount":20,"#),
    ]
    @Test(arguments: nearby) func `Google gets this nearby search`(options: SearchOptions, start: String) async {
        let body = await Self.body(options)
        #expect(body.hasPrefix(start + #""locationRestriction""#), "\(body)")
    }

    static let text: [(SearchOptions, String)] = [
        (
            SearchOptions(categories: ["cafe"], ranking: .distance),
            #"{"textQuery":"x","includedType":"cafe","strictTypeFiltering":true,"rankPreference":"DISTANCE","pageSize":20,"#
        ),
        (
            SearchOptions(ranking: .popularity),
            #"{"textQuery":"x","includedType":"restaurant","rankPreference":"RELEVANCE","pageSize":20,"#
        ),
        (SearchOptions(parts: [.businessStatus]), #"{"textQuery":"x","includedType":"restaurant","pageSize":20,"#),
    ]
    @Test(arguments: text) func `Google gets this text search`(options: SearchOptions, start: String) async {
        let body = await Self.body(options, keyword: "x")
        #expect(body.hasPrefix(start), "\(body)")
    }

    @Test func `Parts of places are added to the field mask`() async throws {
        func mask(_ request: SearchRequest, _ fields: String) async throws -> String? {
            let http = FakeHTTP("{}")
            let service = Providers.google(http, fields: try #require(GooglePlacesFields(text: fields)))
            _ = await service.failure(request)
            return http.requests[0].headers.first { $0.name == "X-Goog-FieldMask" }?.value
        }
        let hours = "regularOpeningHours.weekdayDescriptions"
        let (status, both) = (
            SearchOptions(parts: [.businessStatus]), SearchOptions(parts: [.businessStatus, .openingHours])
        )
        let searchHours = "places.regularOpeningHours.weekdayDescriptions"
        #expect(
            try await mask(Self.search(both), "location")
                == "places.location,places.id,places.attributions,places.businessStatus,\(searchHours)")
        #expect(
            try await mask(Self.search(status, keyword: "x"), "businessStatus")
                == "places.businessStatus,places.id,places.attributions,nextPageToken")
        #expect(
            try await mask(Self.details([.openingHours]), "regularOpeningHours")
                == "regularOpeningHours.openNow,id,attributions,\(hours)")
        #expect(try await mask(Self.details([.businessStatus]), "id") == "id,attributions,businessStatus")
    }

    static let classes: [(String, Set<SearchOptions.Part>, PriceClass, PriceClass, PriceClass)] = [
        ("essentials", [.businessStatus], .nearbySearchPro, .textSearchPro, .placeDetailsPro),
        ("essentials", [.openingHours], .nearbySearchEnterprise, .textSearchEnterprise, .placeDetailsEnterprise),
        ("pro", [.businessStatus], .nearbySearchPro, .textSearchPro, .placeDetailsPro),
        (
            "pro", [.businessStatus, .openingHours], .nearbySearchEnterprise, .textSearchEnterprise,
            .placeDetailsEnterprise
        ),
        ("enterprise", [.openingHours], .nearbySearchEnterprise, .textSearchEnterprise, .placeDetailsEnterprise),
        ("id", [], .nearbySearchPro, .textSearchIDsOnly, .placeDetailsIDsOnly),
        ("id", [.businessStatus], .nearbySearchPro, .textSearchPro, .placeDetailsPro),
    ]
    @Test(arguments: classes)
    func `Parts of places raise the price class`(
        fields: String, parts: Set<SearchOptions.Part>, nearby: PriceClass, text: PriceClass, details: PriceClass
    ) throws {
        let service = Providers.google(FakeHTTP("{}"), fields: try #require(GooglePlacesFields(text: fields)))
        let options = SearchOptions(parts: parts)
        #expect(service.priceClass(of: Self.search(options), followUp: nil) == nearby)
        #expect(service.priceClass(of: Self.search(options, keyword: "x"), followUp: nil) == text)
        #expect(service.priceClass(of: Self.details(parts), followUp: nil) == details)
    }

    @Test func `Google's status and opening hours are read`() async throws {
        let http = FakeHTTP(
            #"""
            {"places":[
             {"id":"a","displayName":{"text":"A"},"types":["x"],"businessStatus":"CLOSED_TEMPORARILY",
              "regularOpeningHours":{"openNow":false,"weekdayDescriptions":["Monday: Closed",7,"","Tuesday: 9:00 AM"]},
              "currentOpeningHours":{"openNow":true,"weekdayDescriptions":["not these"]}},
             {"id":"b","businessStatus":"FUTURE_OPENING","regularOpeningHours":{}},
             {"id":"c","businessStatus":7,"regularOpeningHours":[]}]}
            """#)
        let places = try await Providers.google(http).ask(Self.search(SearchOptions(parts: [.openingHours]))).places
        #expect(places.map(\.business.status) == [.closedTemporarily, nil, nil])
        #expect(places[0].openNow == true)
        #expect(places[0].business.openingHours == ["Monday: Closed", "Tuesday: 9:00 AM"] && places[0].types == ["x"])
        #expect(places[1].business.openingHours.isEmpty && places[2].business.openingHours.isEmpty)
    }

    @Test func `Opening hours that repeat the API key are refused`() async {
        let http = FakeHTTP(#"{"id":"a","regularOpeningHours":{"weekdayDescriptions":["key=\#(Providers.key)"]}}"#)
        #expect(await Providers.google(http).failure(Self.details([.openingHours]))?.code == .badResponse)
    }

    // MARK: The older API

    @Test func `The older API is searched by distance without a radius`() async {
        let byDistance = await Self.sent(
            .googlePlacesLegacy, Self.search(SearchOptions(categories: ["cafe"], ranking: .distance)))
        let start = "https://old.test/maps/api/place/nearbysearch/json?location=35.6895%2C139.6917123"
        #expect(byDistance.url == start + "&rankby=distance&type=cafe&key=\(Providers.key)")
        let popular = await Self.sent(.googlePlacesLegacy, Self.search(SearchOptions(ranking: .popularity)))
        #expect(popular.url == start + "&radius=1500&type=restaurant&key=\(Providers.key)")
    }

    /// Without a radius, the API finds places at any distance.
    @Test func `A search by distance ends at the radius`() async throws {
        func page(_ latitudes: [Double]) -> FakeHTTP {
            let results = latitudes.enumerated().map { number, latitude in
                #"{"place_id":"p\#(number)","name":"n","geometry":{"location":{"lat":\#(latitude),"lng":139.6917123}}}"#
            }
            return FakeHTTP(
                #"{"status":"OK","next_page_token":"t","results":[\#(results.joined(separator: ","))]}"#)
        }
        let request = Self.search(SearchOptions(ranking: .distance))
        let inside = try await Providers.legacy(page([35.69, 35.70])).ask(request)
        #expect(inside.places.count == 2 && inside.nextPageToken == "t")
        let across = try await Providers.legacy(page([35.69, 35.80])).ask(request)
        #expect(across.places.map(\.id) == ["p0"] && across.nextPageToken == nil)
        let popular = try await Providers.legacy(page([35.69, 35.80])).ask(Providers.search())
        #expect(popular.places.count == 2 && popular.nextPageToken == "t")
    }

    @Test func `The older API's status and opening hours are read`() async throws {
        let http = FakeHTTP(
            #"""
            {"status":"OK","result":{"place_id":"p","name":"P","business_status":"CLOSED_PERMANENTLY",
             "opening_hours":{"open_now":false,"weekday_text":["Monday: 9:30 AM – 5:00 PM"]}}}
            """#)
        let place = try await Providers.legacy(http).ask(Self.details([.businessStatus, .openingHours])).places[0]
        #expect(http.requests[0].url.contains("photos%2Cbusiness_status%2Copening_hours%2Fweekday_text&"))
        #expect(place.business.status == .closedPermanently && place.openNow == false)
        #expect(place.business.openingHours == ["Monday: 9:30 AM – 5:00 PM"])
    }

    /// Other fields than that of the photo would raise the price.
    @Test func `A photo request ignores its include`() async {
        var request = Providers.photo("p1")
        request.options = SearchOptions(parts: [.openingHours])
        let url = await Self.sent(.googlePlacesLegacy, request).url
        #expect(url.contains("fields=photos&"))
        let mask = await Self.sent(.googlePlaces, request).headers.last?.value
        #expect(mask == "photos,attributions")
    }

    // MARK: Hot Pepper

    static let genres: [(SearchOptions, String)] = [
        (SearchOptions(categories: ["cafe", "居酒屋", "izakaya"]), "&range=4&genre=G014%2CG001%2CG001&count=20&"),
        (SearchOptions(categories: ["cafe", "restaurant"]), "&range=4&count=20&"),
        (SearchOptions(ranking: .popularity), "&range=4&order=4&count=20&"),
        (SearchOptions(categories: ["bar"], ranking: .distance), "&range=4&genre=G012&count=20&"),
    ]
    @Test(arguments: genres) func `Hot Pepper gets this search`(options: SearchOptions, part: String) async {
        var request = Self.search(options)
        if let first = options.categories.first { request.category = first }
        let url = await Self.sent(.hotpepper, request).url
        #expect(url.contains(part), "\(url)")
    }

    // MARK: Refusals

    static let refused: [(ProviderID, SearchOptions, String?, String)] = [
        (.googlePlaces, SearchOptions(categories: ["cafe", "bar"]), "x", "categories"),
        (.googlePlaces, SearchOptions(categories: ["primary:cafe"]), "x", "categories"),
        (.googlePlaces, SearchOptions(excludedCategories: ["cafe"]), "x", "excludeCategories"),
        (.googlePlacesLegacy, SearchOptions(categories: ["cafe", "bar"]), nil, "categories"),
        (.googlePlacesLegacy, SearchOptions(categories: ["primary:cafe"]), nil, "categories"),
        (.googlePlacesLegacy, SearchOptions(excludedCategories: ["cafe"]), nil, "excludeCategories"),
        (.googlePlacesLegacy, SearchOptions(parts: [.openingHours]), nil, "include"),
        (.hotpepper, SearchOptions(categories: ["cafe", "hospital"]), nil, "categories"),
        (.hotpepper, SearchOptions(categories: ["primary:cafe"]), nil, "categories"),
        (.hotpepper, SearchOptions(excludedCategories: ["cafe"]), nil, "excludeCategories"),
        (.hotpepper, SearchOptions(parts: [.businessStatus]), nil, "include"),
    ]
    @Test(arguments: refused)
    func `A provider rejects by name what it cannot serve`(
        provider: ProviderID, options: SearchOptions, keyword: String?, member: String
    ) throws {
        let service = Providers.service(provider, FakeHTTP(""))
        let error = try #require(service.refusal(of: Self.search(options, keyword: keyword)))
        #expect(error.code == .invalidRequest && error.member == member)
        #expect(error.message.hasPrefix("\(provider.rawValue) cannot serve this \(member): "))
    }

    @Test func `An open search and a further page are text searches too`() {
        let google = Providers.google(FakeHTTP(""))
        let options = SearchOptions(excludedCategories: ["cafe"])
        #expect(google.refusal(of: Self.search(options, openNow: true))?.member == "excludeCategories")
        #expect(google.refusal(of: Self.search(options, pageToken: "t"))?.member == "excludeCategories")
        #expect(google.refusal(of: Self.search(options)) == nil)
    }

    static let served: [(ProviderID, SearchOptions)] = [
        (
            .googlePlaces,
            SearchOptions(
                categories: ["a", "b"], excludedCategories: ["primary:c"], ranking: .distance, parts: [.openingHours])
        ),
        (.googlePlacesLegacy, SearchOptions(categories: ["cafe"], ranking: .distance, parts: [.businessStatus])),
        (.hotpepper, SearchOptions(categories: ["cafe", "restaurant"], ranking: .popularity)),
    ]
    @Test(arguments: served)
    func `A provider accepts what it can serve`(provider: ProviderID, options: SearchOptions) {
        #expect(Providers.service(provider, FakeHTTP("")).refusal(of: Self.search(options)) == nil)
    }

    /// Members of a search have no meaning for one place, apart from `include`.
    @Test func `Details ignore the options of a search`() {
        var request = Providers.details("J009900001")
        request.options = SearchOptions(
            categories: ["primary:x", "primary:y"], excludedCategories: ["z"], ranking: .distance)
        for provider in ProviderID.allCases {
            #expect(Providers.service(provider, FakeHTTP("")).refusal(of: request) == nil)
        }
        request.options = SearchOptions(parts: [.openingHours])
        #expect(Providers.hotpepper(FakeHTTP("")).refusal(of: request)?.member == "include")
        request.operation = .photo
        #expect(Providers.hotpepper(FakeHTTP("")).refusal(of: request) == nil)
    }
}
