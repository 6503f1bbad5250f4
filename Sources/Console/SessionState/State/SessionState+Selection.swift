public import LocationSearch

extension SessionState {
    /// The place that details or a picture were asked of.
    public struct Selection: Sendable, Hashable {
        /// The provider's id of the place.
        public let id: String
        /// The provider; `nil` when the request left it open and neither its outcome nor the list says.
        public let provider: ProviderID?
        /// True while details or a picture of the place are under way.
        public let isLoading: Bool
        /// True when there are details of the place.
        public let hasDetails: Bool
        /// The URL of the place's picture, which may be short-lived.
        public let imageURL: String?
        /// The credits that must be shown with the place, unchanged; they may be HTML. Each stands here once.
        public let attributions: [String]
        /// The place as the list has it, or from its details alone where the list does not have it; `nil` until it is known.
        public let place: Place?
    }
}
