public import LocationSearch

extension SessionState {
    /// The places that a search found, including further pages.
    public struct PlaceList: Sendable, Hashable {
        /// The id of the first search of the list.
        public let requestID: String
        /// True if there is a newer search, which is in flight or failed.
        public let isSuperseded: Bool
        /// The name of the provider that answered.
        public let provider: String?
        /// The search as the provider ran it.
        public let search: SearchOutcome.Search?
        /// The total number of places that the provider has for the search; `nil` if it reported none.
        public let totalAvailable: Int?
        /// The `pageToken` for the next page; `nil` if there is none.
        public let nextPageToken: String?
        /// The credits that must be shown with the places, unchanged; they may be HTML. Without repetitions.
        public let attributions: [String]
        /// The places in the provider's order, without repetitions, including their details and pictures.
        public let places: Places
    }
}
