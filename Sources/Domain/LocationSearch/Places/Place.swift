import LibC

/// One place of any provider. Unknown values are `nil` or empty, and left out of events.
public struct Place: Sendable, Hashable {
    /// The provider's id, for a later details or photo request. Never empty.
    public var id: String
    /// The provider that the place and its id come from.
    public var provider: ProviderID
    /// The name. Never empty.
    public var name: String
    /// The kind of place, in the provider's words (`居酒屋`, `restaurant`).
    public var category: String?
    /// All types that the provider gives, most specific first.
    public var types: [String] = []
    /// The position; `nil` for a business without a location.
    public var location: Coordinate?
    /// The distance from the search's position in metres, which the presenter fills in.
    public var distanceMeters: Double?
    /// The address as people write it.
    public var address: String?
    public var imageURL: String?
    /// The URL of the place's own page, or of its page at the provider.
    public var url: String?
    /// The mean rating, 1...5.
    public var rating: Double?
    /// The number of ratings behind the mean.
    public var ratingCount: Int?
    /// The price level, 0 (free)...4.
    public var priceLevel: Int?
    /// True if the place was open at the time of the answer.
    public var openNow: Bool?
    /// The state of the business, which does not depend on the time of the answer.
    public var business = Business()

    /// The state and the usual hours of a business.
    public struct Business: Sendable, Hashable {
        /// Whether the business exists and operates, apart from its hours.
        public var status: BusinessStatus?
        /// The usual opening hours: one line for each weekday, in the provider's words and the language of the answer.
        public var openingHours: [String] = []

        public init(status: BusinessStatus? = nil, openingHours: [String] = []) {
            (self.status, self.openingHours) = (status, openingHours)
        }
    }
}

/// The state of a business. Raw values are contract: add, never rename.
public enum BusinessStatus: String, CaseIterable, Sendable, Hashable {
    case operational
    case closedTemporarily = "closed-temporarily"
    case closedPermanently = "closed-permanently"
}

extension Place {
    /// Makes a place without the values that may be unknown.
    public init(id: String, provider: ProviderID, name: String) {
        self.init(id: id, provider: provider, name: name, category: nil)
    }
}

/// A position on WGS 84, in decimal degrees.
public struct Coordinate: Sendable, Hashable {
    /// The latitude, finite, -90...90.
    public var latitude: Double
    /// The longitude, finite, -180...180.
    public var longitude: Double

    /// Makes a position in decimal degrees, without validation.
    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// True if both are finite and in range. A provider's coordinates are checked with this before use.
    public var isValid: Bool { latitude.magnitude <= 90 && longitude.magnitude <= 180 }

    /// Returns the distance in metres along the great circle (haversine; IUGG mean earth radius 6,371,008.8 m).
    public func distance(to other: Coordinate) -> Double {
        let (a, b) = (latitude * .pi / 180, other.latitude * .pi / 180)
        let (sinA, sinB) = (sin((b - a) / 2), sin((other.longitude - longitude) * .pi / 360))
        let h = sinA * sinA + cos(a) * cos(b) * sinB * sinB
        return 2 * 6_371_008.8 * asin(min(1, h.squareRoot()))
    }
}
