/// One place, whichever provider it comes from. What is not known is `nil` or empty, and left out of events.
public struct Place: Sendable, Hashable {
    /// The provider's id, for a later details or photo request. Never empty.
    public var id: String
    public var provider: ProviderID
    public var name: String
    /// The kind of place, in the provider's words (`居酒屋`, `restaurant`).
    public var category: String?
    /// All types the provider gives, most telling first.
    public var types: [String]
    /// The position; `nil` for a business without a place of its own.
    public var location: Coordinate?
    /// The distance from the search's position in metres, which the presenter fills in.
    public var distanceMeters: Double?
    public var address: String?
    public var imageURL: String?
    public var url: String?
    /// The mean rating, 1...5.
    public var rating: Double?
    public var ratingCount: Int?
    /// The price level, 0 (free)...4.
    public var priceLevel: Int?
    public var openNow: Bool?

    @inlinable
    public init(
        id: String, provider: ProviderID, name: String, category: String? = nil, types: [String] = [],
        location: Coordinate? = nil, distanceMeters: Double? = nil, address: String? = nil, imageURL: String? = nil,
        url: String? = nil, rating: Double? = nil, ratingCount: Int? = nil, priceLevel: Int? = nil,
        openNow: Bool? = nil
    ) {
        self.id = id
        self.provider = provider
        self.name = name
        self.category = category
        self.types = types
        self.location = location
        self.distanceMeters = distanceMeters
        self.address = address
        self.imageURL = imageURL
        self.url = url
        self.rating = rating
        self.ratingCount = ratingCount
        self.priceLevel = priceLevel
        self.openNow = openNow
    }
}
