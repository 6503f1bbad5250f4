public import LocationSearch

/// An operator's order that changes how workers run, until a time or until it is revoked.
public struct ControlOrder: Sendable, Hashable {
    /// The setting that an order changes. Raw values are contract: they are used in messages, in `/status` and in
    /// metrics.
    public enum Control: String, Sendable, Hashable, CaseIterable {
        /// Stops calls to a provider.
        case pauseProvider = "pause-provider"
        /// Stops new requests.
        case pauseIntake = "pause-intake"
        /// Changes the limit of a provider's calls per second.
        case rate
        /// Changes the most requests that a process has in flight.
        case concurrency
        /// Changes the log level.
        case logLevel = "log-level"
        /// Makes a worker finish its requests, and end. The order applies once and has no duration.
        case drain
        /// Calls a provider again that was not called because of its key or the key's quota. Applies once, like `drain`.
        case retry
    }

    /// The range of `number`.
    public static let numbers = 0.0...1_000_000_000

    /// The setting that the order changes, as named by its sender. `Control` has the names that this version supports.
    public var name: String
    /// The provider's name, if the control concerns a provider.
    public var provider: String?
    /// The number of calls per second, or of requests.
    public var number: Double?
    /// The log level.
    public var level: String?
    /// True for an order that revokes earlier ones.
    public var isTakenBack = false
    /// True if the order may exceed the worker's settings.
    public var isForced = false
    /// The worker to which the order applies, by a name that changes when it restarts. `nil`: all workers of the fleet.
    public var instance: String?
    /// The name by which operators know that worker: its machine or its pod.
    public var worker: String?
    /// The end of the order in milliseconds since 1970, by each worker's clock. `nil`: it lasts until it is revoked.
    public var until: Int64?
    /// The operator who sent the order, and the machine: `user@host`.
    public var by: String
    /// The time at which the order was sent, in milliseconds since 1970, by its sender's clock.
    public var at: Int64

    public init(
        _ control: Control, provider: String? = nil, number: Double? = nil, level: String? = nil,
        until: Int64? = nil, by: String, at: Int64
    ) {
        self.init(name: control.rawValue, by: by, at: at)
        (self.provider, self.number, self.level, self.until) = (provider, number, level, until)
    }

    init(name: String, by: String, at: Int64) {
        (self.name, self.by, self.at) = (name, by, at)
    }

    /// The control; `nil` if this version does not support it.
    public var control: Control? { Control(rawValue: name) }

    /// True for an order that is never in force, because it applies once.
    public var appliesOnce: Bool { control == .drain || control == .retry }

    /// True once the order has expired.
    public func isOver(at time: Int64) -> Bool { until.map { $0 <= time } ?? false }

    /// True for orders that change the same setting, for one worker or for all.
    public func changesTheSame(as other: ControlOrder) -> Bool { name == other.name && provider == other.provider }
}

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
