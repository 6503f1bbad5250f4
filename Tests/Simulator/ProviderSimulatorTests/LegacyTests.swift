import Foundation
import TestSupport
import Testing

@testable import ProviderSimulator

struct LegacyTests {
    static let spot = "location=35.690921,139.700258"

    @Test func `A nearby search is answered in the documented shape`() async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.nearby("\(Self.spot)&radius=1500&type=restaurant&language=ja")
        #expect(answer.status == 200 && answer.legacyStatus == "OK")
        #expect(answer.headers["content-type"] == "application/json; charset=UTF-8")
        #expect(answer.legacyResults.count == 20)
        #expect((25_000...50_000).contains(answer.body.count), "\(answer.body.count)")
        #expect(answer.object["html_attributions"] is [Any])
        for place in answer.legacyResults {
            #expect((place["types"] as? [String])?.contains("restaurant") == true)
            #expect(place["place_id"] is String && place["vicinity"] is String)
            let location = (place["geometry"] as? [String: Any])?["location"] as? [String: Any]
            let spot = (location?["lat"] as? Double ?? 0, location?["lng"] as? Double ?? 0)
            #expect(metres((35.690921, 139.700258), spot) <= 1502)
        }
    }

    @Test func `A page token is invalid if it is used at once`() async throws {
        let simulator = try await Simulator { $0.pageTokenDelay = .seconds(3600) }
        let first = try await simulator.nearby("\(Self.spot)&radius=3000&type=restaurant")
        let token = try #require(first.object["next_page_token"] as? String)
        let early = try await simulator.nearby("pagetoken=\(token)")
        #expect(early.legacyStatus == "INVALID_REQUEST" && early.object["error_message"] == nil)
        #expect(early.headers["cache-control"] == "public, max-age=300")
    }

    @Test func `Page tokens give sixty places in all`() async throws {
        let simulator = try await Simulator()
        var answer = try await simulator.nearby("\(Self.spot)&radius=3000&type=restaurant")
        var found = ids(answer.legacyResults, "place_id")
        for _ in 2...3 {
            let token = try #require(answer.object["next_page_token"] as? String)
            try await eventually("the token is valid") {
                answer = try await simulator.nearby("pagetoken=\(token)")
                return answer.legacyStatus == "OK"
            }
            found += ids(answer.legacyResults, "place_id")
        }
        #expect(answer.object["next_page_token"] == nil)
        #expect(found.count == 60 && Set(found).count >= 58)
        #expect(try await simulator.nearby("pagetoken=\(String(found[0]))").legacyStatus == "INVALID_REQUEST")
    }

    static let refused = [
        "", "radius=1000", "\(spot)", "\(spot)&radius=0", "\(spot)&radius=-1", "\(spot)&radius=x", "\(spot)&radius=nan",
        "location=91,0&radius=100", "location=1&radius=5",
    ]
    @Test(arguments: refused)
    func `A search with bad parameters is an invalid request`(parameters: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.nearby(parameters)
        #expect(answer.status == 200 && answer.legacyStatus == "INVALID_REQUEST")
    }

    @Test func `A search follows the rules of types and opening hours`() async throws {
        let simulator = try await Simulator()
        let area = "\(Self.spot)&radius=2000"
        let first = try await simulator.nearby("\(area)&type=hospital|restaurant")
        #expect(first.legacyResults.contains { ($0["name"] as? String)?.contains("病院") == true })
        #expect(
            ids(first.legacyResults, "place_id")
                == ids(try await simulator.nearby("\(area)&type=hospital").legacyResults, "place_id"))
        let ignored = try await simulator.nearby("\(area)&type=hospital,restaurant")
        #expect(
            ids(ignored.legacyResults, "place_id")
                == ids(try await simulator.nearby(area).legacyResults, "place_id"))
        #expect(try await simulator.nearby("\(area)&type=embassy").legacyStatus == "ZERO_RESULTS")
        let open = try await simulator.nearby("\(area)&type=restaurant&opennow")
        #expect(open.legacyResults.count == 20)
        for place in open.legacyResults {
            let hours = place["opening_hours"] as? [String: Any]
            #expect(hours?["open_now"] as? Bool != false && hours != nil)
        }
        #expect(try await simulator.nearby("location=0.1,0.1&radius=1000").legacyStatus == "ZERO_RESULTS")
    }

    @Test func `Names are in the language of the request`() async throws {
        let simulator = try await Simulator()
        let area = "\(Self.spot)&radius=1000&type=restaurant"
        let japanese = try await simulator.nearby("\(area)&language=ja")
        let english = try await simulator.nearby("\(area)&language=en")
        #expect(ids(japanese.legacyResults, "place_id") == ids(english.legacyResults, "place_id"))
        #expect(ids(japanese.legacyResults, "name") != ids(english.legacyResults, "name"))
    }

    @Test(arguments: ["key=", "key=wrong", "key=denied-x", "key=legacy-off", nil] as [String?])
    func `A search is denied without a right key`(key: String?) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.nearby("\(Self.spot)&radius=1000", key: key)
        #expect(answer.status == 200 && answer.legacyStatus == "REQUEST_DENIED")
        let message = try #require(answer.object["error_message"] as? String)
        #expect(message.hasPrefix("You're calling a legacy API") == (key == "key=legacy-off"))
    }

    @Test func `Details and photo belong to the place of a search`() async throws {
        let simulator = try await Simulator()
        let search = try await simulator.nearby("\(Self.spot)&radius=2000&type=restaurant")
        let place = try #require(search.legacyResults.first { $0["photos"] != nil })
        let id = try #require(place["place_id"] as? String)
        let details = try await simulator.get("/maps/api/place/details/json?key=k&place_id=\(id)")
        let result = try #require(details.object["result"] as? [String: Any])
        #expect(result["name"] as? String == place["name"] as? String)
        #expect(result["formatted_address"] is String)
        let fields = try await simulator.get(
            "/maps/api/place/details/json?key=k&place_id=\(id)&fields=name,geometry/location")
        let some = try #require(fields.object["result"] as? [String: Any])
        #expect(some.keys.sorted() == ["geometry", "name"])
        #expect((some["geometry"] as? [String: Any])?.keys.sorted() == ["location"])

        let photo = try #require((place["photos"] as? [[String: Any]])?.first?["photo_reference"] as? String)
        let answer = try await simulator.get("/maps/api/place/photo?key=k&maxwidth=400&photo_reference=\(photo)")
        #expect(answer.status == 302)
        #expect(answer.headers["location"]?.hasPrefix("https://lh3.googleusercontent.com/") == true)
        let low = try await simulator.get("/maps/api/place/photo?key=k&maxheight=300&photo_reference=\(photo)")
        #expect(low.status == 302 && low.headers["location"]?.hasSuffix("-h300") == true)
        for wrong in [
            "photo_reference=\(photo)", "maxwidth=2000&photo_reference=\(photo)",
            "maxwidth=400&maxheight=0&photo_reference=\(photo)",
            "maxwidth=400&photo_reference=A\(photo)",
        ] {
            #expect(try await simulator.get("/maps/api/place/photo?key=k&\(wrong)").status == 400)
        }
    }

    @Test(arguments: [
        ("place_id=ChIJN1t_tDeuEmsRUsoyG83frY4", "NOT_FOUND"), ("place_id=short", "INVALID_REQUEST"),
        ("", "INVALID_REQUEST"),
    ])
    func `The details of an unknown place have no result`(parameters: String, status: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.get("/maps/api/place/details/json?key=k&\(parameters)")
        #expect(answer.legacyStatus == status && answer.object["result"] == nil)
    }

    /// The seed is no secret, so a token may contain any text.
    @Test func `A page token of an impossible search is invalid`() {
        func read(_ text: String) -> Bool {
            let token = SealedText.seal(Array(text.utf8), seed: 1)
            if case .search = LegacySearch.read(token, seed: 1, now: 1, delay: .zero) { return true }
            return false
        }
        #expect(read("0&40&location=35,139&radius=500"))
        for text in [
            "", "0", "0&40", "x&40&location=35,139&radius=500", "0&\(Int.max)&location=35,139&radius=500",
            "0&-1&location=35,139&radius=500", "0&40&location=nan,139&radius=500", "0&40&location=35,1e300&radius=500",
            "0&40&location=35,139&radius=-1",
        ] {
            #expect(!read(text), "\(text)")
        }
    }
}
