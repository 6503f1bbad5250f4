public import LocationSearch

extension SessionState {
    /// The place of a details or photo request.
    public struct Selection: Sendable, Hashable {
        /// The provider's id of the place.
        public let id: String
        /// The provider; `nil` if the request left it open and neither its outcome nor the list has it.
        public let provider: ProviderID?
        /// True while a request for details or a picture of the place is in flight.
        public let isLoading: Bool
        /// True if there are details of the place.
        public let hasDetails: Bool
        /// The URL of the place's picture, which may be short-lived.
        public let imageURL: String?
        /// The credits that must be shown with the place, unchanged; they may be HTML. Without repetitions.
        public let attributions: [String]
        /// The place from the list, or from its details if it is not in the list; `nil` until either is known.
        public let place: Place?
    }
}
