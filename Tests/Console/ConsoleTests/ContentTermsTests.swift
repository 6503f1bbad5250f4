@testable import EventContract
@testable import LocationSearch
import SessionState
import Testing

@testable import Console

/// The content of Google's places that a page receives.
struct ContentTermsTests {
    private static let position = Coordinate(latitude: 35.69, longitude: 139.7)
    /// Texts of a place that the terms for the EEA restrict.
    private static let secrets = [
        "Zq7name", "Zq7category", "Zq7type", "Zq7address", "Zq7image", "Zq7url", "Zq7author", "4.1", "\"openNow\"",
    ]

    private static func place(of provider: ProviderID) -> Place {
        var place = Place(id: "p-1", provider: provider, name: "Zq7name")
        place.category = "Zq7category"
        place.types = ["Zq7type"]
        place.location = position
        place.address = "Zq7address"
        place.imageURL = "https://lh3.googleusercontent.com/Zq7image"
        place.url = "https://maps.google.com/Zq7url"
        place.rating = 4.1
        place.ratingCount = 77
        place.priceLevel = 2
        place.openNow = true
        return place
    }

    private static func outcome(
        _ operation: String, of provider: ProviderID, requestID: String = "r", photo: String? = nil
    ) -> OutcomeEvent {
        var result = SearchOutcome.Result(
            places: photo == nil ? [place(of: provider)] : [], attributions: ["Google Maps", "Zq7author"])
        result.photoURL = photo
        return OutcomeEvent(
            requestID: requestID, operation: operation, provider: provider.rawValue, sessionID: "s",
            body: .completed(result), completedAt: .now())
    }

    /// Returns the state that a page receives after a search, its details and its picture.
    private func state(_ terms: ContentTerms, of provider: ProviderID) async throws -> EventStreamClient.Event {
        let console = try await RunningConsole { $0.terms = terms }
        let page = try EventStreamClient(port: console.port, path: "/api/sessions/s/events")
        let operations: [(SearchOperation, String?)] = [
            (.search, nil), (.details, nil), (.photo, "https://lh3.googleusercontent.com/Zq7image"),
        ]
        let start = WallTime.now().milliseconds
        for (index, (operation, photo)) in operations.enumerated() {
            let request = SearchRequest(
                requestID: "r-\(operation)", operation: operation, provider: .named(provider),
                location: Self.position, placeID: operation == .search ? nil : "p-1", sessionID: "s")
            console.store.dispatch(.requested(request, at: WallTime(milliseconds: start + Int64(index))))
            let event = Self.outcome(operation.rawValue, of: provider, requestID: request.requestID, photo: photo)
            console.store.dispatch(.outcome(event))
        }
        return try await page.waitFor("the picture") { event in
            let selected = event.json["selected"] as? [String: Any]
            return selected?["hasDetails"] as? Bool == true && (event.json["inFlight"] as? [Any] ?? []).isEmpty
        }
    }

    @Test(arguments: [ProviderID.googlePlaces, .googlePlacesLegacy])
    func `By the terms for the EEA, a page receives only ids and positions of Google's places`(
        provider: ProviderID
    ) async throws {
        let state = try await state(.eea, of: provider)
        for secret in Self.secrets { #expect(!state.data.contains(secret), "\(secret): \(state.data)") }

        let list = try #require(state.json["list"] as? [String: Any])
        #expect(list["attributions"] as? [String] == ["Google Maps"])
        let place = try #require((list["places"] as? [[String: Any]])?.first)
        #expect(place["id"] as? String == "p-1" && place["name"] as? String == "p-1")
        #expect((place["location"] as? [String: Any])?["latitude"] as? Double == 35.69)
        #expect(Set(place.keys).isSubset(of: ["id", "name", "provider", "location", "distanceMeters"]))
    }

    @Test func `Hot Pepper's places are complete under any terms`() async throws {
        let state = try await state(.eea, of: .hotpepper)
        for text in Self.secrets { #expect(state.data.contains(text), "\(text): \(state.data)") }
    }

    @Test func `By the standard terms, a page receives all content`() async throws {
        let state = try await state(.standard, of: .googlePlaces)
        for text in Self.secrets { #expect(state.data.contains(text), "\(text): \(state.data)") }
    }

    // MARK: - Records

    private static func record(_ value: String) -> OutcomeRecord {
        OutcomeRecord(
            position: SourcePosition(topic: "results", partition: 0, offset: 7), key: nil, value: Array(value.utf8),
            headers: [])
    }

    private static func details(_ value: String, _ terms: ContentTerms = .eea) -> String {
        String(decoding: TrafficJSON.details(of: record(value), by: terms), as: UTF8.self)
    }

    private static func result(of provider: String) -> String {
        #"{"requestId":"r1","operation":"search","provider":"\#(provider)","places":[{"id":"p-1","provider":"#
            + #""\#(provider)","name":"Zq7name","rating":4.1,"location":{"latitude":35.69,"longitude":139.7}}],"#
            + #""attributions":["Google Maps","Zq7author"],"Zq7unknown":1}"#
    }

    @Test func `The record of a result of Google's has only its ids and positions`() {
        let details = Self.details(Self.result(of: "google-places"))
        #expect(!details.contains("Zq7") && !details.contains("4.1"), "\(details)")
        #expect(details.contains(#"\"id\":\"p-1\""#) && details.contains("35.69") && details.contains("Google Maps"))
        #expect(Self.details(Self.result(of: "google-places"), .standard).contains("Zq7name"))
    }

    @Test func `The record of a photo of Google's has no picture`() {
        let value =
            #"{"requestId":"r1","operation":"photo","provider":"google-places","photo":{"imageURL":"https://Zq7image"}}"#
        #expect(!Self.details(value).contains("Zq7image"))
    }

    @Test(arguments: [#"{"a":"Zq7name"}"#, "Zq7name"])
    func `A record that is no outcome may hold content of Google's and has no value`(value: String) {
        #expect(!Self.details(value).contains("Zq7name"))
        #expect(Self.details(value, .standard).contains("Zq7name"))
    }

    @Test func `Errors and results of others are complete`() {
        let failure = #"{"requestId":"r1","provider":"google-places","error":{"code":"timeout","message":"Zq7text"}}"#
        #expect(Self.details(failure).contains("Zq7text"))
        #expect(Self.details(Self.result(of: "hotpepper")).contains("Zq7name"))
        // An unknown provider may be a new name of Google's.
        #expect(!Self.details(Self.result(of: "google-places-v2")).contains("Zq7"))
    }

    @Test func `The page knows the terms, and fetches no pictures of Google's`() async throws {
        let console = try await RunningConsole { $0.terms = .eea }
        #expect(try await console.get("/api/config").json["terms"] as? String == "eea")
        let hosts = PictureHosts(ContentTerms.eea.pictureHosts, insteadOfThem: "http://127.0.0.1:8090")
        #expect(hosts.address(of: "https://lh3.googleusercontent.com/a") == nil)
        #expect(hosts.address(of: "https://imgfp.hotp.jp/a") != nil)
    }
}
