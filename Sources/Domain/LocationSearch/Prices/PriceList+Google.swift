extension PriceList {
    /// The list prices of both Google APIs outside of India, without a subscription: the default of the setting
    /// `prices.file`. Hot Pepper has no price.
    ///
    /// Google's page was not read directly: three public notes of September 2026 quote it with the same figures. Their
    /// legacy part has no volume prices. A legacy search or details call is charged with Contact and Atmosphere Data.
    /// Here it is one price with the smallest number of free calls among its parts, which may be too high but not too low.
    public static let google = PriceList(
        date: "2026-09-24", source: "https://developers.google.com/maps/billing-and-pricing/pricing", currency: "USD",
        entries: [
            .nearbySearchPro: Entry(free: 5_000, 32_000, 25_600, 19_200, 9_600, 2_400),
            .nearbySearchEnterprise: Entry(free: 1_000, 35_000, 28_000, 21_000, 10_500, 2_630),
            .textSearchIDsOnly: Entry(free: 0, 0),
            .textSearchPro: Entry(free: 5_000, 32_000, 25_600, 19_200, 9_600, 2_400),
            .textSearchEnterprise: Entry(free: 1_000, 35_000, 28_000, 21_000, 10_500, 2_630),
            .placeDetailsIDsOnly: Entry(free: 0, 0),
            .placeDetailsEssentials: Entry(free: 10_000, 5_000, 4_000, 3_000, 1_500, 380),
            .placeDetailsPro: Entry(free: 5_000, 17_000, 13_600, 10_200, 5_100, 1_280),
            .placeDetailsEnterprise: Entry(free: 1_000, 20_000, 16_000, 12_000, 6_000, 1_510),
            .placeDetailsPhotos: Entry(free: 1_000, 7_000, 5_600, 4_200, 2_100, 530),
            .legacyNearbySearch: Entry(free: 1_000, 40_000),
            .legacyPlaceDetails: Entry(free: 1_000, 25_000),
            .legacyPlacePhoto: Entry(free: 1_000, 7_000),
        ])
}

extension PriceList.Quota {
    /// The quota of a new project at the Places API (New).
    ///
    /// Google publishes that each method has a quota per minute and project, but not its size. An operator's note of
    /// June 2026 and a 429 response give 600. The older API counts all methods together; no size is known.
    public static let google = Self(
        date: "2026-06-28",
        source: "https://developers.google.com/maps/documentation/places/web-service/usage-and-billing",
        callsPerMinute: [.searchNearby: 600, .searchText: 600, .details: 600, .photo: 600])
}

extension PriceList.Entry {
    /// The first calls of Google's volume prices.
    private static let volumes = [1, 100_001, 500_001, 1_000_001, 5_000_001]

    /// - Parameter prices: millionths of a dollar for one call, by Google's volumes.
    fileprivate init(free: Int, _ prices: Int...) {
        self.init(
            freeCallsPerMonth: free,
            tiers: zip(Self.volumes, prices).map { PriceList.Tier(fromCall: $0, price: $1) })
    }
}
