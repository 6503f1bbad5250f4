import HTTPTransport
import LocationSearch
import ProviderCalls
import Testing

@testable import PlaceProviders

/// The fields that are requested from Google, and the resulting prices of calls.
struct GooglePlacesFieldsTests {
    private static let nearby = Providers.search()
    private static let text = Providers.search(keyword: "x")
    private static let details = Providers.details("p1")

    private func service(_ fields: String) throws -> (service: GooglePlacesService, http: FakeHTTP) {
        let http = FakeHTTP("{}")
        return (Providers.google(http, fields: try #require(GooglePlacesFields(text: fields))), http)
    }

    private func mask(_ request: SearchRequest, _ fields: String) async throws -> String? {
        let (service, http) = try service(fields)
        _ = await service.failure(request)
        return http.requests[0].headers.first { $0.name == "X-Goog-FieldMask" }?.value
    }

    private static let proSearch =
        "places.id,places.displayName,places.formattedAddress,places.location,places.types,places.primaryType,"
        + "places.primaryTypeDisplayName,places.googleMapsUri,places.businessStatus,places.attributions"

    @Test func `A preset requests all fields of its price class`() async throws {
        #expect(try await mask(Self.nearby, "pro") == Self.proSearch)
        #expect(try await mask(Self.text, "pro") == Self.proSearch + ",nextPageToken")
        let details = Self.proSearch.replacing("places.", with: "") + ",photos"
        #expect(try await mask(Self.details, "pro") == details)

        #expect(try await mask(Self.nearby, "essentials") == Self.proSearch)
        #expect(try await mask(Self.text, "essentials") == Self.proSearch + ",nextPageToken")
        #expect(try await mask(Self.details, "essentials") == "id,formattedAddress,location,types,attributions,photos")
    }

    @Test func `A list of fields is requested with those that every result needs`() async throws {
        let list = "displayName, rating,currentOpeningHours"
        let fields = "displayName,rating,currentOpeningHours.openNow,id,attributions"
        #expect(try await mask(Self.details, list) == fields)
        let search = fields.split(separator: ",").map { "places.\($0)" }.joined(separator: ",")
        #expect(try await mask(Self.nearby, list) == search)
        #expect(try await mask(Self.text, list) == search + ",nextPageToken")
        let hours = "regularOpeningHours.openNow"
        #expect(try await mask(Self.details, hours) == hours + ",id,attributions")
    }

    @Test(arguments: ["essentials", "pro", "enterprise", "location"])
    func `A photo requests only its name whatever the setting`(fields: String) async throws {
        #expect(try await mask(Providers.photo("p1"), fields) == "photos,attributions")
    }

    @Test(arguments: [
        "", "everything", "Pro", "pro,enterprise", "id,essentials", "id,,rating", "id,", "rating,rating", "name",
        "places.rating", "rating.openNow", "currentOpeningHours.periods", ".openNow",
        "currentOpeningHours,currentOpeningHours.openNow", "reviews", "*", "id\n",
    ])
    func `An unknown field is no setting`(text: String) {
        #expect(GooglePlacesFields(text: text) == nil)
    }

    static let classes: [(String, PriceClass, PriceClass, PriceClass)] = [
        ("essentials", .nearbySearchPro, .textSearchPro, .placeDetailsEssentials),
        ("pro", .nearbySearchPro, .textSearchPro, .placeDetailsPro),
        ("enterprise", .nearbySearchEnterprise, .textSearchEnterprise, .placeDetailsEnterprise),
        ("location,types", .nearbySearchPro, .textSearchPro, .placeDetailsEssentials),
        ("displayName,websiteUri", .nearbySearchEnterprise, .textSearchEnterprise, .placeDetailsEnterprise),
    ]
    @Test(arguments: classes)
    func `The most expensive field and the operation determine the price class`(
        fields: String, nearby: PriceClass, text: PriceClass, details: PriceClass
    ) throws {
        let service = try service(fields).service
        #expect(service.priceClass(of: Self.nearby, followUp: nil) == nearby)
        #expect(service.priceClass(of: Self.text, followUp: nil) == text)
        #expect(service.priceClass(of: Self.details, followUp: nil) == details)
    }

    /// The API's price tiers, from its pages about nearby search, text search and details.
    @Test(
        arguments: [
            ("id", "pro", "ids-only", "ids-only"), ("attributions", "pro", "ids-only", "ids-only"),
            ("photos", "pro", "pro", "ids-only"), ("formattedAddress", "pro", "pro", "essentials"),
            ("shortFormattedAddress", "pro", "pro", "essentials"), ("location", "pro", "pro", "essentials"),
            ("types", "pro", "pro", "essentials"), ("displayName", "pro", "pro", "pro"),
            ("primaryType", "pro", "pro", "pro"), ("primaryTypeDisplayName", "pro", "pro", "pro"),
            ("googleMapsUri", "pro", "pro", "pro"), ("businessStatus", "pro", "pro", "pro"),
            ("rating", "enterprise", "enterprise", "enterprise"),
            ("userRatingCount", "enterprise", "enterprise", "enterprise"),
            ("priceLevel", "enterprise", "enterprise", "enterprise"),
            ("currentOpeningHours", "enterprise", "enterprise", "enterprise"),
            ("regularOpeningHours", "enterprise", "enterprise", "enterprise"),
            ("websiteUri", "enterprise", "enterprise", "enterprise"),
        ] as [(String, String, String, String)])
    func `A field costs what Google's price tables list`(field: String, nearby: String, text: String, details: String)
        throws
    {
        let service = try service(field).service
        #expect(service.priceClass(of: Self.nearby, followUp: nil).rawValue.hasSuffix(nearby))
        #expect(service.priceClass(of: Self.text, followUp: nil).rawValue.hasSuffix(text))
        #expect(service.priceClass(of: Self.details, followUp: nil).rawValue.hasSuffix(details))
    }

    @Test func `Photo calls and the other providers have separate price classes`() throws {
        let (photo, picture) = (Providers.photo("p1"), FollowUpCall(number: 2))
        let google = try service("enterprise").service
        #expect(google.priceClass(of: photo, followUp: nil) == .placeDetailsIDsOnly)
        #expect(google.priceClass(of: photo, followUp: picture) == .placeDetailsPhotos)

        let legacy = Providers.legacy(FakeHTTP(""))
        #expect(legacy.priceClass(of: Self.nearby, followUp: nil) == .legacyNearbySearch)
        #expect(legacy.priceClass(of: Self.text, followUp: picture) == .legacyNearbySearch)
        #expect(legacy.priceClass(of: Self.details, followUp: nil) == .legacyPlaceDetails)
        #expect(legacy.priceClass(of: photo, followUp: nil) == .legacyPlaceDetails)
        #expect(legacy.priceClass(of: photo, followUp: picture) == .legacyPlacePhoto)

        for request in [Self.nearby, Self.details, photo] {
            #expect(Providers.hotpepper(FakeHTTP("")).priceClass(of: request, followUp: nil) == .hotpepper)
        }
    }

    @Test(arguments: PriceClass.allCases) func `Each price class belongs to the provider in its name`(
        priceClass: PriceClass
    ) {
        let provider: ProviderID =
            priceClass.rawValue.hasPrefix("legacy-")
            ? .googlePlacesLegacy : priceClass == .hotpepper ? .hotpepper : .googlePlaces
        #expect(priceClass.provider == provider)
    }
}
