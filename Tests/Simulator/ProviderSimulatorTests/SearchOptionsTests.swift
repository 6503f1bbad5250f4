import Foundation
import ProviderSimulator
import Testing

/// Types, order, opening hours and billed SKUs of the simulated providers.
struct SearchOptionsTests {
    private static let mask = "places.id,places.types,places.primaryType,places.location"

    private static func nearby(_ members: String, radius: String = "3000") -> String {
        "{\(members),\"locationRestriction\":\(Simulator.circle(radius))}"
    }

    private func distances(_ places: [[String: Any]]) -> [Double] {
        places.compactMap { place in
            let location = place["location"] as? [String: Any]
            guard let latitude = location?["latitude"] as? Double, let longitude = location?["longitude"] as? Double
            else { return nil }
            return metres((35.690921, 139.700258), (latitude, longitude))
        }
    }

    // MARK: Types

    @Test func `A nearby search has places of any included type and of no excluded one`() async throws {
        let simulator = try await Simulator()
        let body = Self.nearby("\"includedTypes\":[\"cafe\",\"hospital\"],\"excludedTypes\":[\"restaurant\"]")
        let places = try await simulator.new("searchNearby", body, mask: Self.mask).places
        let types = places.compactMap { $0["types"] as? [String] }
        #expect(!types.isEmpty && types.allSatisfy { $0.contains("hospital") && !$0.contains("restaurant") })

        let either = Self.nearby("\"includedTypes\":[\"cafe\",\"hospital\"]")
        let both = try await simulator.new("searchNearby", either, mask: Self.mask).places
        let found = Set(both.compactMap { $0["types"] as? [String] }.joined())
        #expect(found.isSuperset(of: ["cafe", "hospital"]))
    }

    @Test func `Primary types are searched for and excluded`() async throws {
        let simulator = try await Simulator()
        let only = Self.nearby("\"includedPrimaryTypes\":[\"bar\",\"cafe\"]")
        let places = try await simulator.new("searchNearby", only, mask: Self.mask).places
        #expect(places.count == 20)
        #expect(places.allSatisfy { ["bar", "cafe"].contains($0["primaryType"] as? String) })

        // A place without a primary type does not have the excluded one.
        let others = Self.nearby("\"includedTypes\":[\"restaurant\"],\"excludedPrimaryTypes\":[\"bar\"]")
        let kept = try await simulator.new("searchNearby", others, mask: Self.mask).places
        #expect(kept.count == 20)
        #expect(kept.allSatisfy { $0["primaryType"] as? String != "bar" })
    }

    private static let many = Array(repeating: "\"cafe\"", count: 51).joined(separator: ",")

    static let refused = [
        "\"includedTypes\":[\"cafe\"],\"excludedTypes\":[\"bar\",\"cafe\"]",
        "\"includedPrimaryTypes\":[\"cafe\"],\"excludedPrimaryTypes\":[\"cafe\"]", "\"excludedTypes\":[\"nonsense\"]",
        "\"excludedTypes\":[\(many)]", "\"includedPrimaryTypes\":[\(many)]", "\"excludedPrimaryTypes\":\"cafe\"",
        "\"rankPreference\":\"RELEVANCE\"", "\"rankPreference\":\"distance\"", "\"rankPreference\":1",
        "\"strictTypeFiltering\":true",
    ]
    @Test(arguments: refused) func `Conflicting and unknown values are invalid arguments`(members: String) async throws
    {
        let simulator = try await Simulator()
        let answer = try await simulator.new("searchNearby", Self.nearby(members))
        #expect(answer.status == 400 && answer.error["status"] as? String == "INVALID_ARGUMENT", "\(answer.text)")
    }

    @Test func `A type may be included and excluded as a primary one`() async throws {
        let simulator = try await Simulator()
        let body = Self.nearby("\"includedTypes\":[\"cafe\"],\"excludedPrimaryTypes\":[\"cafe\"]")
        #expect(try await simulator.new("searchNearby", body).status == 200)
    }

    @Test func `A strict text search has only places of its type`() async throws {
        let simulator = try await Simulator()
        let start = "{\"textQuery\":\"restaurant\",\"includedType\":\"cafe\",\"locationRestriction\":\(Simulator.box)"
        let strict = try await simulator.new("searchText", start + ",\"strictTypeFiltering\":true}", mask: Self.mask)
        #expect(!strict.places.isEmpty)
        #expect(strict.places.allSatisfy { ($0["types"] as? [String])?.contains("cafe") == true })
    }

    // MARK: Order

    @Test func `Google ranks by distance or by popularity`() async throws {
        let simulator = try await Simulator()
        func nearby(_ ranking: String) async throws -> [Double] {
            let body = Self.nearby("\"includedTypes\":[\"restaurant\"],\"rankPreference\":\"\(ranking)\"")
            return distances(try await simulator.new("searchNearby", body, mask: Self.mask).places)
        }
        let (near, popular) = (try await nearby("DISTANCE"), try await nearby("POPULARITY"))
        #expect(near.count == 20 && zip(near, near.dropFirst()).allSatisfy { $0 <= $1 + 0.5 })
        #expect((popular.max() ?? 0) > (near.max() ?? 0))
    }

    @Test func `The order of a text search belongs to its page token`() async throws {
        let simulator = try await Simulator()
        let start = "{\"textQuery\":\"restaurant\",\"locationRestriction\":\(Simulator.box)"
        let first = try await simulator.new("searchText", start + ",\"rankPreference\":\"DISTANCE\"}")
        let token = try #require(first.object["nextPageToken"] as? String)
        let end = ",\"pageToken\":\"\(token)\"}"
        #expect(try await simulator.new("searchText", start + ",\"rankPreference\":\"RELEVANCE\"" + end).status == 400)
        #expect(try await simulator.new("searchText", start + ",\"rankPreference\":\"DISTANCE\"" + end).status == 200)
        let wrong = try await simulator.new("searchText", start + ",\"rankPreference\":\"POPULARITY\"}")
        #expect(wrong.status == 400)
    }

    private static let spot = "location=35.690921,139.700258"

    @Test func `The older API ranks by distance without a radius`() async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.nearby("\(Self.spot)&rankby=distance&type=restaurant")
        let locations = answer.legacyResults.compactMap {
            (($0["geometry"] as? [String: Any])?["location"] as? [String: Double]).map {
                ["location": ["latitude": $0["lat"], "longitude": $0["lng"]]]
            }
        }
        let near = distances(locations)
        #expect(near.count == 20 && zip(near, near.dropFirst()).allSatisfy { $0 <= $1 + 0.5 })

        for parameters in ["&rankby=distance", "&rankby=distance&type=cafe&radius=500", "&rankby=prominence&type=cafe"]
        {
            #expect(try await simulator.nearby(Self.spot + parameters).legacyStatus == "INVALID_REQUEST")
        }
        #expect(try await simulator.nearby("\(Self.spot)&rankby=prominence&radius=500").legacyStatus == "OK")
    }

    @Test func `Hot Pepper's recommended shops are in another order`() async throws {
        let simulator = try await Simulator()
        let area = "\(Simulator.spot)&range=5&count=20"
        let (near, recommended) = (try await simulator.gourmet(area), try await simulator.gourmet(area + "&order=4"))
        #expect(recommended.shops.count == 20 && ids(recommended.shops) != ids(near.shops))
    }

    // MARK: Opening hours

    @Test func `Both of Google's APIs describe the same hours`() async throws {
        let simulator = try await Simulator()
        let search = try await simulator.new(
            "searchNearby", Self.nearby("\"includedTypes\":[\"restaurant\"]"),
            mask: "places.id,places.regularOpeningHours,places.currentOpeningHours.weekdayDescriptions")
        let place = try #require(search.places.first { $0["regularOpeningHours"] != nil })
        let regular = try #require(place["regularOpeningHours"] as? [String: Any])
        let lines = try #require(regular["weekdayDescriptions"] as? [String])
        #expect(lines.count == 7 && lines[0].hasPrefix("Monday: "))
        let current = place["currentOpeningHours"] as? [String: Any]
        #expect(current?.keys.sorted() == ["weekdayDescriptions"])

        let id = try #require(place["id"] as? String)
        let details = try await simulator.get(
            "/maps/api/place/details/json?key=k&place_id=\(id)&fields=opening_hours,business_status")
        let result = try #require(details.object["result"] as? [String: Any])
        #expect(result["business_status"] is String)
        let hours = try #require(result["opening_hours"] as? [String: Any])
        #expect(hours["weekday_text"] as? [String] == lines)
    }

    // MARK: SKUs

    /// - Parameters: the method, the mask, the SKU of Google's price tables.
    static let masks: [(String, String, String)] = [
        ("searchNearby", "places.id", "nearby-search-pro"),
        ("searchNearby", "places.businessStatus", "nearby-search-pro"),
        ("searchNearby", "places.id,places.regularOpeningHours.openNow", "nearby-search-enterprise"),
        ("searchNearby", "places.rating,places.reviews", "nearby-search-enterprise-atmosphere"),
        ("searchNearby", "*", "nearby-search-enterprise-atmosphere"),
        ("searchText", "places.id,places.attributions,nextPageToken", "text-search-essentials-ids-only"),
        ("searchText", "places.id,places.photos", "text-search-pro"),
        ("searchText", "places.currentOpeningHours.openNow", "text-search-enterprise"),
        ("details", "id,photos", "place-details-essentials-ids-only"),
        ("details", "location,id", "place-details-essentials"),
        ("details", "businessStatus", "place-details-pro"),
        ("details", "regularOpeningHours.weekdayDescriptions", "place-details-enterprise"),
        ("details", "allowsDogs", "place-details-enterprise-atmosphere"),
    ]
    @Test(arguments: masks)
    func `The mask determines the billed SKU`(method: String, mask: String, sku: String) async throws {
        let simulator = try await Simulator()
        if method == "details" {
            let search = try await simulator.new("searchNearby", Self.nearby("\"maxResultCount\":1"), mask: "places.id")
            let id = try #require(ids(search.places).first)
            _ = try await simulator.post("/_sim/reset", [:], "")
            _ = try await simulator.get("/v1/places/\(id)", ["X-Goog-Api-Key": "k", "X-Goog-FieldMask": mask])
        } else {
            let text = "{\"textQuery\":\"ramen\",\"locationRestriction\":\(Simulator.box)}"
            let body = method == "searchText" ? text : Self.nearby("\"maxResultCount\":1")
            #expect(try await simulator.new(method, body, mask: mask).status == 200)
        }
        #expect(try await simulator.stats(.new)["skus"] as? [String: Int] == [sku: 1])
    }

    @Test func `Errors are not billed and all other answers are`() async throws {
        let simulator = try await Simulator()
        _ = try await simulator.new("searchNearby", "{}")
        _ = try await simulator.new("searchNearby", Self.nearby("\"maxResultCount\":1"), key: "wrong")
        _ = try await simulator.search(.new, "fault:503")
        _ = try await simulator.gourmet("keyword=x&count=x")
        #expect(try await simulator.stats()["skus"] as? [String: Int] == [:])

        _ = try await simulator.nearby("location=0.1,0.1&radius=100")
        _ = try await simulator.gourmet(Simulator.spot)
        #expect(try await simulator.stats()["skus"] as? [String: Int] == ["hotpepper": 1, "legacy-nearby-search": 1])
    }
}
