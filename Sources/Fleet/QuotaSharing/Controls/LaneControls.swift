public import LocationSearch

/// What the orders in force ask of one lane.
public struct LaneControls: Sendable, Hashable {
    /// What they ask about one provider.
    public struct Provider: Sendable, Hashable {
        /// True while it is not to be asked.
        public var isPaused = false
        /// The calls per second in place of the setting's; `nil`: those of the setting.
        public var perSecond: Double?

        public init() {}
    }

    /// `false` while no request may begin, because the orders are not known yet or say so.
    public var isIntakeOpen = true
    /// The most requests in flight on this lane in place of the setting's part; `nil`: that part.
    public var concurrency: Int?
    public var providers: [ProviderID: Provider] = [:]

    public init() {}
}
