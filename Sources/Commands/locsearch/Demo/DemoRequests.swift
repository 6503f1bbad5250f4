import LocationSearch

/// A request of the demo, and the label of its table row.
struct DemoRequest: Sendable {
    let label: String
    private(set) var request: SearchRequest

    private static let shinjuku = Coordinate(latitude: 35.690921, longitude: 139.700258)
    private static let osaka = Coordinate(latitude: 34.702485, longitude: 135.495951)
    private static let paris = Coordinate(latitude: 48.856613, longitude: 2.352222)

    /// Describes a search by its differences from one for restaurants in Shinjuku.
    private init(
        _ label: String, at provider: ProviderID? = nil, in location: Coordinate = shinjuku, keyword: String? = nil,
        timeout: Duration? = nil, change: (inout SearchRequest) -> Void = { _ in }
    ) {
        self.label = label
        request = SearchRequest(requestID: "", location: location)
        if let provider { request.provider = .named(provider) }
        request.keyword = keyword
        request.timeout = timeout
        change(&request)
    }

    /// Returns a sample of everything that can happen. Keywords of the form `fault:...` make the simulator fail on
    /// purpose.
    /// - Parameter run: a text that is unique to this demo, used in the request ids.
    static func searches(_ run: String) -> [DemoRequest] {
        numbered(
            [
                DemoRequest("restaurants, Shinjuku"),
                DemoRequest("ramen at Hot Pepper", at: .hotpepper, keyword: "ラーメン"),
                DemoRequest("restaurants, Osaka, Google", at: .googlePlaces, in: osaka) { $0.language = "ja" },
                DemoRequest("restaurants, Google legacy", at: .googlePlacesLegacy),
                DemoRequest("hospitals, Shinjuku") { ($0.category, $0.radiusMeters) = ("hospital", 2000) },
                DemoRequest("restaurants, Paris", in: paris) { $0.limit = 5 },

                DemoRequest("latitude 91", in: Coordinate(latitude: 91, longitude: 139.7)),
                DemoRequest("hospital at Hot Pepper", at: .hotpepper) { $0.category = "hospital" },

                DemoRequest("no places found", at: .hotpepper, keyword: "fault:none"),
                DemoRequest("provider fails once", at: .googlePlaces, keyword: "fault:503*1"),
                DemoRequest(
                    "provider never responds", at: .hotpepper, keyword: "fault:hang", timeout: .milliseconds(1500)),
                DemoRequest("broken response", at: .hotpepper, keyword: "fault:cut"),
            ], run, from: 1)
    }

    /// Returns requests after which workers make no calls to their provider until the key is renewed. Send them last.
    static func shutting(_ run: String) -> [DemoRequest] {
        numbered(
            [
                DemoRequest("quota used up", at: .googlePlacesLegacy, keyword: "fault:rate-limited-day"),
                DemoRequest("key rejected", at: .googlePlaces, keyword: "fault:unauthorized"),
            ], run, from: 13)
    }

    /// Returns requests for the details and a picture of a place that a search found.
    static func followUps(_ run: String, of place: Place) -> [DemoRequest] {
        numbered(
            [
                DemoRequest("details of \(place.name)", at: place.provider) { $0.operation = .details },
                DemoRequest("its picture", at: place.provider) { $0.operation = .photo },
            ].map { request in
                var request = request
                (request.request.placeID, request.request.location) = (place.id, nil)
                return request
            }, run, from: 15)
    }

    private static func numbered(_ requests: [DemoRequest], _ run: String, from first: Int) -> [DemoRequest] {
        requests.enumerated().map { index, request in
            var request = request
            request.request.requestID = "demo-\(run)-\(first + index)"
            return request
        }
    }
}
