public import LocationSearch

extension SessionState {
    /// The places that a search found, with the further pages that were asked for since.
    public struct PlaceList: Sendable, Hashable {
        /// The id of the search that the list begins with.
        public let requestID: String
        /// True when there is a newer search, which is under way or failed.
        public let isSuperseded: Bool
        /// The name of the provider that answered.
        public let provider: String?
        /// The search as the provider ran it.
        public let search: SearchOutcome.Search?
        /// How many places the provider has for the search; `nil` when it did not say.
        public let totalAvailable: Int?
        /// The `pageToken` for the next page; `nil` when this is all.
        public let nextPageToken: String?
        /// The credits that must be shown with the places, unchanged; they may be HTML. Each stands here once.
        public let attributions: [String]
        /// The time spent waiting for providers, all pages together; `nil` when it is not known.
        public let upstream: Duration?
        /// The number of calls made, for all pages together; `nil` when it is not known.
        public let attempts: Int?
        /// The places in the provider's order. Each stands here once, with what its details and its picture added.
        public let places: Places

        /// Returns the place with that id; `nil` when the list has none.
        public func place(id: String, provider: ProviderID) -> Place? {
            places.first { $0.id == id && $0.provider == provider }
        }
    }
}
