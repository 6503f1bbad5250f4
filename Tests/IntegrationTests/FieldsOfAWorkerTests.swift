import EventContract
import Foundation
import LocationSearch
import PlaceProviders
import TestSupport
import Testing

/// The members of results for smaller Google field sets: the simulator's answers over TCP, and a whole worker's results.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct FieldsOfAWorkerTests {
    /// Returns the names of the optional members that a place has.
    private func members(_ place: Place) -> Set<String> {
        var members: Set<String> = []
        func note(_ name: String, _ isThere: Bool) { if isThere { members.insert(name) } }
        note("category", place.category != nil)
        note("types", !place.types.isEmpty)
        note("location", place.location != nil)
        note("address", place.address != nil)
        note("url", place.url != nil)
        note("rating", place.rating != nil)
        note("ratingCount", place.ratingCount != nil)
        note("priceLevel", place.priceLevel != nil)
        note("openNow", place.openNow != nil)
        return members
    }

    private func members(_ answer: ProviderAnswer) -> Set<String> {
        answer.places.reduce(into: []) { $0.formUnion(members($1)) }
    }

    private static let pro: Set<String> = ["category", "types", "location", "address", "url"]
    private static let enterprise = pro.union(["rating", "ratingCount", "priceLevel", "openNow"])

    /// - Parameters: the setting; the members of searches' places; those of details; whether details have the name.
    static let expectations: [(String, Set<String>, Set<String>, Bool)] = [
        ("enterprise", enterprise, enterprise, true),
        ("pro", pro, pro, true),
        ("essentials", pro, ["category", "types", "location", "address"], false),
        ("displayName,location,rating", ["location", "rating"], ["location", "rating"], true),
        ("id", [], [], false),
    ]
    @Test(arguments: expectations)
    func `A result has the members that were asked for`(
        fields: String, search: Set<String>, details: Set<String>, hasName: Bool
    ) async throws {
        try await ProviderFixture.run { harness in
            let asked = try #require(GooglePlacesFields(text: fields))
            let whole = GooglePlacesService(http: harness.http, configuration: harness.configuration)
            let service = GooglePlacesService(http: harness.http, configuration: harness.configuration, fields: asked)

            let all = try await harness.ask(whole, ProviderFixture.search())
            let nearby = try await harness.ask(service, ProviderFixture.search())
            #expect(nearby.places.map(\.id) == all.places.map(\.id))
            #expect(members(nearby) == search)
            let text = try await harness.ask(service, ProviderFixture.search(keyword: "ラーメン"))
            #expect(!text.places.isEmpty)
            #expect(members(text).isSubset(of: search))

            // A place with all members.
            let place = try #require(all.places.first { members($0) == Self.enterprise })
            let answer = try await harness.ask(service, ProviderFixture.details(place.id))
            let detailed = try #require(answer.places.first)
            #expect(detailed.id == place.id)
            #expect(members(detailed) == details)
            #expect(detailed.name == (hasName ? place.name : detailed.address ?? place.id))

            let photo = try await harness.ask(service, ProviderFixture.photo(place.id))
            #expect(photo.photoURL != nil)
        }
    }

    /// The API knows every name that the setting accepts, for each operation.
    @Test func `The API knows each field that the setting accepts`() async throws {
        let names = try #require(GooglePlacesFields.expectation.split(separator: "some of ").last)
        let fields = try #require(GooglePlacesFields(text: String(names)))
        try await ProviderFixture.run { harness in
            let service = GooglePlacesService(http: harness.http, configuration: harness.configuration, fields: fields)
            let nearby = try await harness.ask(service, ProviderFixture.search())
            #expect(members(nearby) == Self.enterprise)
            _ = try await harness.ask(service, ProviderFixture.search(keyword: "ラーメン"))
            _ = try await harness.ask(service, ProviderFixture.details(try #require(nearby.places.first).id))
        }
    }

    /// The provider's own count of billed calls must be the worker's, whatever the requests ask for.
    @Test func `A worker's price classes are the SKUs that the provider bills`() async throws {
        try await WorkerHarness.run(["GOOGLE_PLACES_FIELDS": "essentials"]) { harness in
            let google = "google-places"
            try await harness.send([
                WorkerHarness.request("plain", google), WorkerHarness.request("near", google, #","rankBy":"distance""#),
                WorkerHarness.request("types", google, #","categories":["primary:cafe","primary:bar"]"#),
                WorkerHarness.request("hours", google, #","include":["openingHours","businessStatus"]"#),
                WorkerHarness.request(
                    "text", google, #","categories":["cafe"],"keyword":"cafe","rankBy":"popularity""#),
                WorkerHarness.request(
                    "old", "google-places-legacy", #","rankBy":"distance","include":["businessStatus"]"#),
                WorkerHarness.request("hot", "hotpepper", #","categories":["cafe","bar"],"rankBy":"popularity""#),
                WorkerHarness.request("refused", "hotpepper", #","excludeCategories":["bar"]"#),
            ])
            let found = try await harness.outcomes(8)
            let hours = try #require(found["hours"]?.result)
            #expect(hours.places.contains { $0.business.openingHours.count == 7 && $0.business.status == .operational })
            #expect(try #require(found["plain"]?.result).places.allSatisfy(\.business.openingHours.isEmpty))
            for id in ["near", "old"] {
                let metres = try #require(found[id]?.result).places.compactMap(\.distanceMeters)
                #expect(metres.count > 1 && metres == metres.sorted(), "\(id)")
            }
            let types = try #require(found["types"]?.result)
            #expect(types.search?.categories == ["primary:cafe", "primary:bar"] && types.search?.category == "cafe")
            #expect(try #require(found["text"]?.result).places.allSatisfy { $0.types.contains("cafe") })
            #expect(found["refused"]?.failure?.member == "excludeCategories")

            let place = try #require(found["plain"]?.places?.first)
            let id = #""provider":"google-places","placeId":"\#(place)""#
            try await harness.send([
                #"{"requestId":"details","operation":"details",\#(id)}"#,
                #"{"requestId":"open","operation":"details","include":["openingHours"],\#(id)}"#,
            ])
            _ = try await harness.outcomes(2)

            let metrics = PrometheusDocument(try await harness.get("/metrics").body)
            let samples = metrics.families["locsearch_provider_calls_by_sku_total"]?.samples ?? []
            let counts = samples.filter { $0.value > 0 }.reduce(into: [String: Int]()) { counts, sample in
                counts[sample.labels["sku"] ?? "", default: 0] += Int(sample.value)
            }
            #expect(try await harness.billedSKUs() == counts)
            #expect(counts["nearby-search-enterprise"] == 1 && counts["place-details-enterprise"] == 1)
        }
    }

    @Test func `A worker asks for its fields and counts calls by their price class`() async throws {
        try await WorkerHarness.run(["GOOGLE_PLACES_FIELDS": "pro"]) { harness in
            try await harness.send([
                WorkerHarness.request("nearby", "google-places"),
                WorkerHarness.request("text", "google-places", #","keyword":"ラーメン""#),
                WorkerHarness.request("legacy", "google-places-legacy"), WorkerHarness.request("hot", "hotpepper"),
            ])
            let found = try await harness.outcomes(4)
            let place = try #require(found["nearby"]?.places?.first)
            let text = #""provider":"google-places","placeId":"\#(place)""#
            try await harness.send([
                #"{"requestId":"details","operation":"details",\#(text)}"#,
                #"{"requestId":"photo","operation":"photo",\#(text)}"#,
            ])
            let outcomes = try await harness.outcomes(2).merging(found) { one, _ in one }

            for id in ["nearby", "text", "details"] {
                let result = try #require(outcomes[id]?.result, "\(id)")
                #expect(!result.places.isEmpty)
                #expect(result.places.allSatisfy { Self.pro.isSuperset(of: members($0)) }, "\(id)")
                #expect(result.places.allSatisfy { !$0.name.isEmpty && $0.location != nil }, "\(id)")
            }
            #expect(outcomes["photo"]?.failure == nil)

            let metrics = PrometheusDocument(try await harness.get("/metrics").body)
            let samples = metrics.families["locsearch_provider_calls_by_sku_total"]?.samples ?? []
            let counts = samples.filter { $0.value > 0 }.reduce(into: [String: Double]()) { counts, sample in
                counts["\(sample.labels["provider"] ?? "")/\(sample.labels["sku"] ?? "")"] = sample.value
            }
            #expect(
                counts == [
                    "google-places/nearby-search-pro": 1, "google-places/text-search-pro": 1,
                    "google-places/place-details-pro": 1, "google-places/place-details-essentials-ids-only": 1,
                    "google-places/place-details-photos": 1, "google-places-legacy/legacy-nearby-search": 1,
                    "hotpepper/hotpepper": 1,
                ])
            let calls = metrics.total("locsearch_provider_calls_total")
            #expect(metrics.total("locsearch_provider_calls_by_sku_total") == calls)
        }
    }
}
