import Foundation
import ProviderSimulator
import Testing

struct NewTests {
    static let nearby =
        "{\"includedTypes\":[\"restaurant\"],\"languageCode\":\"ja\",\"locationRestriction\":\(Simulator.circle())}"

    @Test func `A nearby search returns only the fields of the mask`() async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.new("searchNearby", Self.nearby, mask: "places.id,places.displayName.text")
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/json; charset=UTF-8")
        #expect(answer.places.count == 20)
        #expect(answer.places.allSatisfy { $0.keys.sorted() == ["displayName", "id"] })
        #expect(answer.places.allSatisfy { ($0["displayName"] as? [String: Any])?.keys.sorted() == ["text"] })
        let all = try await simulator.new("searchNearby", Self.nearby, mask: "*")
        #expect(all.places.allSatisfy { $0["name"] as? String == "places/\($0["id"] as? String ?? "")" })
    }

    static let masks: [String?] = [
        nil, "", "places.id, places.types", "places.nothing", "id", "nextPageToken", "places.id,,places.types",
    ]
    @Test(arguments: masks)
    func `A search with a bad mask is rejected`(mask: String?) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.new(
            "searchNearby", "no json", mask: mask == "nextPageToken" ? "searchUri" : mask)
        #expect(answer.status == 400 && answer.error["status"] as? String == "INVALID_ARGUMENT")
        if mask ?? "" == "" {
            #expect((answer.error["message"] as? String)?.hasPrefix("FieldMask is a required parameter") == true)
        }
    }

    static let refusedNearby = [
        "", "[]", "{", "{}", "{\"keyword\":\"x\"}", "{\"pageToken\":\"x\"}",
        "{\"locationRestriction\":\(Simulator.circle("0"))}",
        "{\"locationRestriction\":\(Simulator.circle("50000.1"))}",
        "{\"locationRestriction\":\(Simulator.circle(latitude: "91"))}", "{\"locationRestriction\":\(Simulator.box)}",
        "{\"maxResultCount\":21,\"locationRestriction\":\(Simulator.circle())}",
        "{\"maxResultCount\":-1,\"locationRestriction\":\(Simulator.circle())}",
        "{\"includedTypes\":[\"nonsense\"],\"locationRestriction\":\(Simulator.circle())}",
        "{\"includedTypes\":\"cafe\",\"locationRestriction\":\(Simulator.circle())}",
    ]
    @Test(arguments: refusedNearby)
    func `A bad nearby search is an invalid argument`(body: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.new("searchNearby", body)
        #expect(answer.status == 400 && answer.error["status"] as? String == "INVALID_ARGUMENT", "\(answer.text)")
    }

    @Test func `A nearby search respects count and type`() async throws {
        let simulator = try await Simulator()
        let body =
            "{\"includedTypes\":[\"hospital\"],\"maxResultCount\":3,"
            + "\"locationRestriction\":\(Simulator.circle("3000"))}"
        let answer = try await simulator.new("searchNearby", body)
        #expect(answer.places.count == 3)
        #expect(answer.places.allSatisfy { ($0["types"] as? [String])?.contains("hospital") == true })
    }

    @Test func `A search without places is answered with an empty object`() async throws {
        let simulator = try await Simulator()
        let body = "{\"locationRestriction\":\(Simulator.circle(latitude: "0.1", longitude: "0.1"))}"
        #expect(try await simulator.new("searchNearby", body).object.isEmpty)
        let text =
            "{\"textQuery\":\"ramen\",\"locationRestriction\":{\"rectangle\":{\"low\":{\"latitude\":0.1,\"longitude\":0.1},"
            + "\"high\":{\"latitude\":0.2,\"longitude\":0.2}}}}"
        let answer = try await simulator.new("searchText", text)
        #expect(answer.status == 200 && answer.text == "{}\n")
    }

    @Test func `A text search has sixty places in pages of the same body`() async throws {
        let simulator = try await Simulator()
        let start = "{\"textQuery\":\"restaurant\",\"locationRestriction\":\(Simulator.box),\"languageCode\":\"ja\""
        var answer = try await simulator.new("searchText", "\(start)}")
        var found = ids(answer.places)
        let token = try #require(answer.object["nextPageToken"] as? String)
        let other = "{\"textQuery\":\"ramen\",\"locationRestriction\":\(Simulator.box),\"pageToken\":\"\(token)\"}"
        #expect(try await simulator.new("searchText", other).status == 400)
        #expect(try await simulator.new("searchText", "\(start),\"pageToken\":\"A\(token)\"}").status == 400)
        var next = Optional(token)
        while let token = next {
            answer = try await simulator.new("searchText", "\(start),\"pageSize\":20,\"pageToken\":\"\(token)\"}")
            found += ids(answer.places)
            next = answer.object["nextPageToken"] as? String
        }
        #expect(found.count == 60 && Set(found).count == 60)
        let unasked = try await simulator.new("searchText", "\(start)}", mask: "places.id")
        #expect(unasked.object.keys.sorted() == ["places"])
    }

    static let refusedText = [
        "{}", "{\"textQuery\":\"\"}", "{\"textQuery\":\"x\",\"pageSize\":-1}",
        "{\"textQuery\":\"x\",\"includedTypes\":[]}", "{\"textQuery\":\"x\",\"languageCode\":\"j a\"}",
        "{\"textQuery\":\"x\",\"locationRestriction\":\(Simulator.circle())}",
        "{\"textQuery\":\"x\",\"includedType\":\"nonsense\"}",
    ]
    @Test(arguments: refusedText)
    func `A bad text search is an invalid argument`(body: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.new("searchText", body)
        #expect(answer.status == 400 && answer.error["status"] as? String == "INVALID_ARGUMENT", "\(answer.text)")
    }

    @Test func `A text search prefers the type and keeps only open places`() async throws {
        let simulator = try await Simulator()
        let body = "{\"textQuery\":\"restaurant\",\"openNow\":true,\"includedType\":\"cafe\",\"pageSize\":5,"
        let answer = try await simulator.new(
            "searchText", body + "\"locationRestriction\":\(Simulator.box)}",
            mask: "places.types,places.currentOpeningHours.openNow")
        #expect(answer.places.count == 5)
        for place in answer.places {
            #expect((place["types"] as? [String])?.contains("cafe") == true)
            #expect((place["currentOpeningHours"] as? [String: Any])?["openNow"] as? Bool == true)
        }
    }

    static let keys: [(String?, Int, String, String?)] = [
        (nil, 403, "PERMISSION_DENIED", nil), ("wrong", 400, "INVALID_ARGUMENT", "API_KEY_INVALID"),
        ("denied", 403, "PERMISSION_DENIED", "API_KEY_SERVICE_BLOCKED"),
    ]
    @Test(arguments: keys)
    func `A search is rejected without a right key`(key: String?, code: Int, status: String, reason: String?)
        async throws
    {
        let simulator = try await Simulator()
        let answer = try await simulator.new("searchNearby", Self.nearby, key: key)
        #expect(answer.status == code && answer.error["code"] as? Int == code)
        #expect(answer.error["status"] as? String == status)
        #expect(answer.reasons.first == reason)
    }

    @Test func `Only the configured key is accepted`() async throws {
        let simulator = try await Simulator { $0.apiKey = "the-one" }
        #expect(try await simulator.new("searchNearby", Self.nearby, key: "other").reasons == ["API_KEY_INVALID"])
        #expect(try await simulator.new("searchNearby", Self.nearby, key: "the-one").status == 200)
        #expect(try await simulator.gourmet(Simulator.spot, key: "key=other").code == 2000)
        #expect(try await simulator.gourmet(Simulator.spot, key: "key=the-one").code == nil)
    }

    @Test func `Details and photo belong to the place of a search`() async throws {
        let simulator = try await Simulator()
        let search = try await simulator.new(
            "searchNearby", Self.nearby, mask: "places.id,places.displayName,places.photos")
        let place = try #require(search.places.first { $0["photos"] != nil })
        let id = try #require(place["id"] as? String)
        let headers = ["X-Goog-Api-Key": "k", "X-Goog-FieldMask": "displayName,photos,regularOpeningHours"]
        let details = try await simulator.get("/v1/places/\(id)?languageCode=ja", headers)
        #expect(details.status == 200)
        #expect(
            (details.object["displayName"] as? [String: Any])?["text"] as? String
                == (place["displayName"] as? [String: Any])?["text"] as? String)
        #expect(try await simulator.get("/v1/places/\(id)", ["X-Goog-Api-Key": "k"]).status == 400)

        let name = try #require((details.object["photos"] as? [[String: Any]])?.first?["name"] as? String)
        let media = try await simulator.get(
            "/v1/\(name)/media?maxWidthPx=400&skipHttpRedirect=true", ["X-Goog-Api-Key": "k"])
        #expect(media.object["name"] as? String == "\(name)/media")
        #expect((media.object["photoUri"] as? String)?.hasPrefix("https://lh3.googleusercontent.com/") == true)
        let redirect = try await simulator.get("/v1/\(name)/media?maxWidthPx=400", ["X-Goog-Api-Key": "k"])
        #expect(redirect.status == 302 && redirect.headers["location"] != nil)
        let low = try await simulator.get("/v1/\(name)/media?maxHeightPx=300", ["X-Goog-Api-Key": "k"])
        #expect(low.status == 302 && low.headers["location"]?.hasSuffix("-h300") == true)
        for wrong in ["\(name)/media", "\(name)/media?maxHeightPx=4801", "\(name)A/media?maxWidthPx=400"] {
            #expect(try await simulator.get("/v1/\(wrong)", ["X-Goog-Api-Key": "k"]).status == 400)
        }
    }

    @Test(arguments: [("ChIJN1t_tDeuEmsRUsoyG83frY4", 404, "NOT_FOUND"), ("nonsense", 400, "INVALID_ARGUMENT")])
    func `Unknown and malformed place ids have different errors`(id: String, code: Int, status: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.get("/v1/places/\(id)", ["X-Goog-Api-Key": "k", "X-Goog-FieldMask": "id"])
        #expect(answer.status == code && answer.error["status"] as? String == status)
    }
}
