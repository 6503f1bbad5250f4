import LocationSearch

/// A request of the demo, and the label of its table row.
struct DemoRequest: Sendable {
    let label: String
    let request: SearchRequest

    private init(_ label: String, _ request: SearchRequest) {
        self.label = label
        self.request = request
    }

    private static let shinjuku = Coordinate(latitude: 35.690921, longitude: 139.700258)
    private static let osaka = Coordinate(latitude: 34.702485, longitude: 135.495951)
    private static let paris = Coordinate(latitude: 48.856613, longitude: 2.352222)

    /// Returns a sample of everything that can happen. Keywords of the form `fault:...` make the simulator fail on
    /// purpose.
    /// - Parameter run: a text that is unique to this demo, used in the request ids.
    static func searches(_ run: String) -> [DemoRequest] { requests(found + refused + failing, run, from: 1) }

    /// Returns requests after which workers make no calls to their provider until the key is renewed. Send them last.
    static func shutting(_ run: String) -> [DemoRequest] { requests(shutting, run, from: 13) }

    private static func requests(_ searches: [Search], _ run: String, from first: Int) -> [DemoRequest] {
        searches.enumerated().map { index, search in
            var request = SearchRequest(requestID: "demo-\(run)-\(first + index)", location: shinjuku)
            search.change(&request)
            return DemoRequest(search.label, request)
        }
    }

    /// Returns requests for the details and a picture of a place that a search found.
    static func followUps(_ run: String, of place: Place) -> [DemoRequest] {
        let provider = ProviderChoice.named(place.provider)
        return [
            DemoRequest(
                "details of \(place.name)",
                SearchRequest(requestID: "demo-\(run)-15", operation: .details, provider: provider, placeID: place.id)),
            DemoRequest(
                "its picture",
                SearchRequest(requestID: "demo-\(run)-16", operation: .photo, provider: provider, placeID: place.id)),
        ]
    }

    // MARK: - The searches

    /// A search described by its differences from the default search, which is for restaurants in Shinjuku.
    private struct Search {
        let label: String
        let change: (inout SearchRequest) -> Void

        init(_ label: String, _ change: @escaping (inout SearchRequest) -> Void = { _ in }) {
            self.label = label
            self.change = change
        }

        /// Creates a search at one provider, with a keyword.
        init(_ label: String, at provider: ProviderID, keyword: String, timeout: Duration? = nil) {
            self.init(label) { request in
                request.provider = .named(provider)
                request.keyword = keyword
                request.timeout = timeout
            }
        }
    }

    private static var found: [Search] {
        [
            Search("restaurants, Shinjuku"),
            Search("ramen at Hot Pepper", at: .hotpepper, keyword: "ラーメン"),
            Search("restaurants, Osaka, Google") { request in
                request.provider = .named(.googlePlaces)
                request.location = osaka
                request.language = "ja"
            },
            Search("restaurants, Google legacy") { $0.provider = .named(.googlePlacesLegacy) },
            Search("hospitals, Shinjuku") { request in
                request.category = "hospital"
                request.radiusMeters = 2000
            },
            Search("restaurants, Paris") { request in
                request.location = paris
                request.limit = 5
            },
        ]
    }

    private static var refused: [Search] {
        [
            Search("latitude 91") { $0.location = Coordinate(latitude: 91, longitude: 139.7) },
            Search("hospital at Hot Pepper") { request in
                request.provider = .named(.hotpepper)
                request.category = "hospital"
            },
        ]
    }

    private static var failing: [Search] {
        [
            Search("no places found", at: .hotpepper, keyword: "fault:none"),
            Search("provider fails once", at: .googlePlaces, keyword: "fault:503*1"),
            Search(
                "provider never responds", at: .hotpepper, keyword: "fault:hang", timeout: .milliseconds(1500)),
            Search("broken response", at: .hotpepper, keyword: "fault:cut"),
        ]
    }

    private static var shutting: [Search] {
        [
            Search("quota used up", at: .googlePlacesLegacy, keyword: "fault:rate-limited-day"),
            Search("key rejected", at: .googlePlaces, keyword: "fault:unauthorized"),
        ]
    }
}
