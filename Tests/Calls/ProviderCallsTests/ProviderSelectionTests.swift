import Basics
import LocationSearch
import ProviderCalls
import Resilience
import Testing

/// A provider that is never called. In these tests `hotpepper` serves restaurants only, suits positions east of 100 degrees, and
/// recognises ids that begin with `J`.
private struct Shelf: PlaceService {
    let id: ProviderID

    func suitability(for request: SearchRequest) -> Suitability {
        guard id == .hotpepper else { return .possible }
        if let placeID = request.placeID { return placeID.hasPrefix("J") ? .certain : .unlikely }
        return request.location.map { $0.longitude > 100 } == true ? .possible : .unlikely
    }

    func refusal(of request: SearchRequest) -> SearchError? {
        guard id == .hotpepper, request.category == "hospital" else { return nil }
        return .unsupported("category", by: id, cure: "it knows restaurants only")
    }

    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass { .hotpepper }

    func begin(
        _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        end(.failure(SearchError(.internal, "not called")))
        return nil
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
        (request(.auto) { ($0.operation, $0.placeID) = (.details, "J001234567") }, [.googlePlaces], [.googlePlaces]),
        (request(.auto) { ($0.operation, $0.placeID) = (.photo, "ChIJabc") }, [.hotpepper], [.hotpepper]),
        (
            request(.auto) { ($0.operation, $0.placeID) = (.details, "ChIJabc") }, [.hotpepper, .googlePlaces],
            [.googlePlaces]
        ),
    ]
    @Test(arguments: cases)
    func `Suitable providers are tried in their order`(
        request: SearchRequest, configured: [ProviderID], expected: [ProviderID]
    )
        throws
    {
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
    func `A request that no provider can serve is refused with its code`(
        request: SearchRequest, configured: [ProviderID], code: SearchError.Code, member: String?
    ) {
        let selection = ProviderSelection(services: configured.map(Shelf.init))
        let error = #expect(throws: SearchError.self) { try selection.candidates(for: request) }
        #expect(error?.code == code)
        #expect(error?.member == member)
    }
}
