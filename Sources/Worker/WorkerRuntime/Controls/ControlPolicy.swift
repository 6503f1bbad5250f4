public import LocationSearch
public import QuotaSharing

/// What the settings of a process let orders change, and how it is known to people.
public struct ControlPolicy: Sendable {
    /// The ranges of the settings that orders stand in for. No order goes beyond them, not even one that is forced.
    public static let (concurrencyRange, rateRange) = (1.0...65_536, 0.001...1_000_000)
    public static let logLevels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]

    /// The name by which people know this process: its machine or its pod.
    public var worker: String
    /// See `QuotaScope.fleet`.
    public var fleet: String
    /// `worker.concurrency`.
    public var concurrency: Int
    /// `worker.loops`.
    public var loops: Int
    /// `providers.<name>.requestsPerSecond`, of the providers that have it.
    public var rates: [ProviderID: Double]
    /// Sets the level of the log; `nil`: that of the settings.
    public var setLogLevel: @Sendable (String?) -> Void

    public init(
        worker: String, fleet: String, concurrency: Int, loops: Int, rates: [ProviderID: Double] = [:],
        setLogLevel: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        self.worker = worker
        self.fleet = fleet
        self.concurrency = concurrency
        self.loops = loops
        self.rates = rates
        self.setLogLevel = setLogLevel
    }

    // MARK: - What is refused

    /// Returns why an order is not taken up, as one line for a person; `nil` where it is.
    /// - Parameter instance: this process's name in the fleet.
    func refusal(of order: ControlOrder, instance: String) -> String? {
        if let provider = order.provider, ProviderID(rawValue: provider) == nil {
            return "this version knows no provider \(provider)"
        }
        switch order.control {
        case nil: return "this version knows no control \(order.name)"
        case _ where order.isTakenBack: return nil
        case .pauseIntake: return nil
        case .pauseProvider: return order.provider == nil ? "it names no provider" : nil
        case .drain: return order.instance == instance ? nil : "it names no single worker"
        case .rate: return refusalOfRate(order)
        case .concurrency:
            return refusal(
                of: order, setting: "worker.concurrency", allows: Double(concurrency), range: Self.concurrencyRange)
        case .logLevel:
            return Self.logLevels.contains(order.level ?? "")
                ? nil : "a level is one of \(Self.logLevels.joined(separator: ", "))"
        }
    }

    private func refusalOfRate(_ order: ControlOrder) -> String? {
        guard let provider = order.provider.flatMap({ ProviderID(rawValue: $0) }) else { return "it names no provider" }
        guard let rate = rates[provider] else {
            return "requestsPerSecond of \(provider.rawValue) is not set, so that there is no rate to change"
        }
        return refusal(
            of: order, setting: "requestsPerSecond of \(provider.rawValue)", allows: rate, range: Self.rateRange)
    }

    private func refusal(
        of order: ControlOrder, setting: String, allows most: Double, range: ClosedRange<Double>
    ) -> String? {
        guard let number = order.number?.value, range.contains(number) else {
            return "\(setting) is \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
        }
        guard number > most, !order.isForced else { return nil }
        return "\(Self.plain(number)) is more than the setting allows: \(setting) is \(Self.plain(most))"
    }

    /// Whole numbers without a point.
    public static func plain(_ number: Double) -> String {
        Int(exactly: number).map { "\($0)" } ?? "\(number)"
    }

    // MARK: - What follows

    func laneControls(of orders: [ControlOrder]) -> LaneControls {
        var controls = LaneControls()
        for order in orders {
            let provider = order.provider.flatMap { ProviderID(rawValue: $0) }
            switch order.control {
            case .pauseIntake: controls.isIntakeOpen = false
            case .pauseProvider: if let provider { controls.providers[provider, default: .init()].isPaused = true }
            case .rate:
                if let provider { controls.providers[provider, default: .init()].perSecond = order.number?.value }
            // The number is within the setting's range, which an `Int` holds.
            case .concurrency: controls.concurrency = order.number.map { max(1, Int($0.value) / max(1, loops)) }
            case .logLevel, .drain, nil: break
            }
        }
        return controls
    }
}

/// The orders that count for one process, for `/status` and metrics.
public struct ControlStatus: Sendable {
    /// An order, and whether the process has taken it up.
    public struct Entry: Sendable {
        public let order: ControlOrder
        /// Why it was not taken up; `nil` where it was.
        public let refusal: String?
    }

    /// The process's name in the fleet: no other has it, nor the next start.
    public let instance: String
    /// `false` while the topic is not read, so that there may be more orders.
    public let isKnown: Bool
    public let entries: [Entry]

    /// The order in force that pauses what is meant.
    public func pause(_ control: ControlOrder.Control, of provider: ProviderID? = nil) -> ControlOrder? {
        entries.first {
            $0.order.control == control && $0.refusal == nil && $0.order.provider == provider?.rawValue
        }?.order
    }
}
