/// A person's order that changes how workers work, until a time or until it is taken back.
public struct ControlOrder: Sendable, Hashable {
    /// What an order changes. Raw values are contract: they stand in messages, in `/status` and in metrics.
    public enum Control: String, Sendable, Hashable, CaseIterable {
        /// A provider is not asked.
        case pauseProvider = "pause-provider"
        /// No request is begun.
        case pauseIntake = "pause-intake"
        /// Another limit of a provider's calls per second.
        case rate
        /// Another number of requests that a process has in flight at most.
        case concurrency
        /// Another level of the log.
        case logLevel = "log-level"
        /// A worker finishes what it has, and ends. It happens once, and lasts for no time.
        case drain
    }

    /// What the order changes, as its sender names it: `Control` has the names that this version knows.
    public var name: String
    /// The provider's name, where the control is about one.
    public var provider: String?
    /// The number of calls per second, or of requests.
    public var number: ControlNumber?
    /// The level of the log.
    public var level: String?
    /// True for an order that takes earlier ones back.
    public var isTakenBack = false
    /// True where the order may go beyond the worker's settings.
    public var isForced = false
    /// The one worker that is meant, by a name that its next start does not have. `nil`: all of the fleet.
    public var instance: String?
    /// The name by which people know that worker: its machine or its pod.
    public var worker: String?
    /// The end of the order in milliseconds since 1970, by each worker's own clock. `nil`: it lasts until it is taken back.
    public var until: Int64?
    /// The person who gave the order, and where: `user@host`.
    public var by: String
    /// When it was given, in milliseconds since 1970, by the clock of the one who gave it.
    public var at: Int64

    public init(
        _ control: Control, provider: String? = nil, number: Double? = nil, level: String? = nil,
        until: Int64? = nil, by: String, at: Int64
    ) {
        self.init(name: control.rawValue, by: by, at: at)
        self.provider = provider
        self.number = number.map { ControlNumber($0) }
        self.level = level
        self.until = until
    }

    init(name: String, by: String, at: Int64) {
        self.name = name
        self.by = by
        self.at = at
    }

    /// `nil` for a control of a later version.
    public var control: Control? { Control(rawValue: name) }

    /// True once the order's time is over.
    public func isOver(at time: Int64) -> Bool { until.map { $0 <= time } ?? false }

    /// True for orders that change the same thing, be it of one worker or of all.
    public func changesTheSame(as other: ControlOrder) -> Bool { name == other.name && provider == other.provider }
}

/// A number in an order: 0 to a billion.
public struct ControlNumber: Sendable, Hashable {
    public static let range = 0.0...1_000_000_000

    public let value: Double

    public init(_ value: Double) { self.value = min(max(value, Self.range.lowerBound), Self.range.upperBound) }
}
