import LocationSearch
import Resilience
import Testing

/// A provider that serves what its rule allows and is never really asked.
private struct Shelf: PlaceService {
    let id: ProviderID
    func refusal(of request: SearchRequest) -> SearchError? {
        guard id == .hotpepper, request.category == "hospital" else { return nil }
        return .unsupported("category", by: id, "it knows restaurants only")
    }
    func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        .answer(ProviderAnswer())
    }
}

struct ProviderSelectionTests {
    private static let tokyo = Coordinate(latitude: 35.69, longitude: 139.70)
    private static let paris = Coordinate(latitude: 48.85, longitude: 2.35)
    private static func request(
        _ provider: ProviderChoice, at location: Coordinate? = tokyo, category: String = "restaurant",
        _ change: (inout SearchRequest) -> Void = { _ in }
    ) -> SearchRequest {
        var request = SearchRequest(requestID: "r", provider: provider, category: category, location: location)
        change(&request)
        return request
    }

    static let cases: [(SearchRequest, configured: [ProviderID], expected: [ProviderID])] = [
        (request(.auto), [.hotpepper, .googlePlaces], [.hotpepper, .googlePlaces]),
        (request(.auto), [.googlePlaces], [.googlePlaces]),
        (request(.auto), [.hotpepper], [.hotpepper]),
        (request(.auto, at: paris), [.hotpepper, .googlePlaces], [.googlePlaces]),
        (request(.auto, at: paris), [.hotpepper], [.hotpepper]),
        (request(.auto, category: "hospital"), [.hotpepper, .googlePlaces], [.googlePlaces]),
        (request(.named(.googlePlacesLegacy)), [.hotpepper, .googlePlacesLegacy], [.googlePlacesLegacy]),
        (
            request(.auto) { ($0.operation, $0.placeID) = (.details, "J001234567") }, [.hotpepper, .googlePlaces],
            [.hotpepper]
        ),
        (
            request(.auto) { ($0.operation, $0.placeID) = (.details, "ChIJabc") }, [.hotpepper, .googlePlaces],
            [.googlePlaces]
        ),
    ]
    @Test(arguments: cases)
    func whoIsAsked(request: SearchRequest, configured: [ProviderID], expected: [ProviderID]) throws {
        let selection = ProviderSelection(services: configured.map(Shelf.init))
        #expect(try selection.candidates(for: request).map(\.id) == expected)
    }

    static let refusals: [(SearchRequest, configured: [ProviderID], SearchError.Code, member: String?)] = [
        (request(.auto), [], .unauthorized, nil),
        (request(.named(.hotpepper)), [.googlePlaces], .unauthorized, nil),
        (request(.named(.hotpepper), category: "hospital"), [.hotpepper, .googlePlaces], .invalidRequest, "category"),
        (request(.auto, category: "hospital"), [.hotpepper], .invalidRequest, "category"),
    ]
    @Test(arguments: refusals)
    func whoCannotBeAsked(
        request: SearchRequest, configured: [ProviderID], code: SearchError.Code, member: String?
    ) {
        let selection = ProviderSelection(services: configured.map(Shelf.init))
        let error = #expect(throws: SearchError.self) { try selection.candidates(for: request) }
        #expect(error?.code == code)
        #expect(error?.member == member)
    }

    static let positions: [(latitude: Double, longitude: Double, inJapan: Bool)] = [
        (35.69, 139.70, true), (43.06, 141.35, true), (26.21, 127.68, true), (34.40, 129.30, true),
        (24.45, 123.0, true),
        (45.41, 141.67, true), (27.09, 142.19, true), (37.57, 126.98, false), (35.10, 129.04, false),
        (35.54, 129.31, false),
        (25.03, 121.56, false), (43.12, 131.89, false), (31.23, 121.47, false), (46.96, 142.73, false),
        (33.50, 126.53, false),
    ]
    @Test(arguments: positions)
    func hotpepperComesFirstInJapanOnly(latitude: Double, longitude: Double, inJapan: Bool) throws {
        let selection = ProviderSelection(services: [Shelf(id: .hotpepper), Shelf(id: .googlePlaces)])
        let request = Self.request(.auto, at: Coordinate(latitude: latitude, longitude: longitude))
        #expect(try (selection.candidates(for: request).first?.id == .hotpepper) == inJapan)
    }
}
