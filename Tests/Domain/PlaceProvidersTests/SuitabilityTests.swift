import LocationSearch
import ProviderCalls
import Testing

@testable import PlaceProviders

/// The suitability of providers for `auto`, before any call.
struct SuitabilityTests {
    static let positions: [(latitude: Double, longitude: Double, isInJapan: Bool)] = [
        (35.69, 139.70, true), (43.06, 141.35, true), (26.21, 127.68, true), (34.40, 129.30, true),
        (24.45, 123.0, true), (45.41, 141.67, true), (27.09, 142.19, true), (37.57, 126.98, false),
        (35.10, 129.04, false), (35.54, 129.31, false), (25.03, 121.56, false), (43.12, 131.89, false),
        (31.23, 121.47, false), (46.96, 142.73, false), (33.50, 126.53, false),
    ]
    @Test(arguments: positions)
    func `A search suits Hot Pepper in Japan only`(latitude: Double, longitude: Double, isInJapan: Bool) throws {
        let services: [any PlaceService] = [Providers.hotpepper(FakeHTTP("")), Providers.google(FakeHTTP(""))]
        let request = SearchRequest(requestID: "r", location: Coordinate(latitude: latitude, longitude: longitude))
        #expect(services[0].suitability(for: request) == (isInJapan ? .possible : .unlikely))
        let candidates = try ProviderSelection(services: services).candidates(for: request)
        #expect((candidates.first?.id == .hotpepper) == isInJapan)
    }

    @Test(arguments: [
        ("J001234567", true), ("J00123456", false), ("J0012345678", false), ("j001234567", false),
        ("JOO1234567", false), ("ChIJ001234", false), ("", false),
    ])
    func `An id in Hot Pepper's form suits only Hot Pepper`(id: String, isShop: Bool) {
        for request in [Providers.details(id), Providers.photo(id)] {
            let suitability = Providers.hotpepper(FakeHTTP("")).suitability(for: request)
            #expect(suitability == (isShop ? .certain : .unlikely))
            #expect(Providers.google(FakeHTTP("")).suitability(for: request) == .possible)
        }
    }
}
