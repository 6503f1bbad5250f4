/// One place, whichever provider it comes from. What is not known is `nil` or empty, and left out of events.
package struct Place: Sendable, Hashable {
    /// The provider's id, for a later details or photo request. Never empty.
    package var id: String
    package var provider: ProviderID
    package var name: String
    /// What kind of place, in the provider's words (`居酒屋`, `restaurant`).
    package var category: String?
    /// All types the provider gives, most telling first.
    package var types: [String]
    /// `nil` for a business without a place of its own.
    package var location: Coordinate?
    /// Metres from the search's position; the presenter fills it in.
    package var distanceMeters: Double?
    package var address: String?
    package var imageURL: String?
    package var url: String?
    /// 1...5.
    package var rating: Double?
    package var ratingCount: Int?
    /// 0 (free)...4.
    package var priceLevel: Int?
    package var openNow: Bool?

    package init(
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
