public import LocationSearch

/// The effects of the orders in force on one lane.
public struct LaneControls: Sendable, Hashable {
    /// The effects on one provider.
    public struct Provider: Sendable, Hashable {
        /// True while the provider must not be called.
        public var isPaused = false
        /// The calls per second that override the setting; `nil`: the setting applies.
        public var perSecond: Double?

        public init() {}
    }

    /// `false` while no request may begin: controls have not been read yet, or they pause intake.
    public var isIntakeOpen = true
    /// The most requests in flight on this lane, overriding its share of the setting; `nil`: the setting applies.
    public var concurrency: Int?
    public var providers: [ProviderID: Provider] = [:]

    public init() {}
}
