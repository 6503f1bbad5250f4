import LocationSearch

/// What the demo asks: a bit of everything that can happen.
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

    /// All at once; the simulator does as the keywords `fault:...` say.
    static func searches(_ run: String) -> [DemoRequest] {
        func request(_ number: Int, _ change: (inout SearchRequest) -> Void) -> SearchRequest {
            var request = SearchRequest(requestID: "demo-\(run)-\(number)", location: shinjuku)
            change(&request)
            return request
        }
        return [
            DemoRequest("restaurants, Shinjuku", request(1) { _ in }),
            DemoRequest(
                "ramen at Hot Pepper",
                request(2) {
                    $0.provider = .named(.hotpepper); $0.keyword = "ラーメン"
                }),
            DemoRequest(
                "restaurants, Osaka, Google",
                request(3) {
                    $0.provider = .named(.googlePlaces); $0.location = osaka; $0.language = "ja"
                }),
            DemoRequest(
                "restaurants, Google legacy", request(4) { $0.provider = .named(.googlePlacesLegacy) }),
            DemoRequest(
                "hospitals, Shinjuku",
                request(5) {
                    $0.category = "hospital"; $0.radiusMeters = 2000
                }),
            DemoRequest(
                "restaurants, Paris",
                request(6) {
                    $0.location = paris; $0.limit = 5
                }),
            DemoRequest(
                "latitude 91", request(7) { $0.location = Coordinate(latitude: 91, longitude: 139.7) }),
            DemoRequest(
                "hospital at Hot Pepper",
                request(8) {
                    $0.provider = .named(.hotpepper); $0.category = "hospital"
                }),
            DemoRequest(
                "nothing there",
                request(9) {
                    $0.provider = .named(.hotpepper); $0.keyword = "fault:none"
                }),
            DemoRequest(
                "provider fails once",
                request(10) {
                    $0.provider = .named(.googlePlaces); $0.keyword = "fault:503*1"
                }),
            DemoRequest(
                "provider never answers",
                request(11) {
                    $0.provider = .named(.hotpepper)
                    $0.keyword = "fault:hang"
                    $0.timeout = .milliseconds(1500)
                }),
            DemoRequest(
                "quota used up",
                request(12) {
                    $0.provider = .named(.googlePlacesLegacy); $0.keyword = "fault:rate-limited-day"
                }),
            DemoRequest(
                "key not accepted",
                request(13) {
                    $0.provider = .named(.googlePlaces); $0.keyword = "fault:unauthorized"
                }),
            DemoRequest(
                "broken answer",
                request(14) {
                    $0.provider = .named(.hotpepper); $0.keyword = "fault:cut"
                }),
        ]
    }

    /// Details and a picture of a place that a search found.
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
}
