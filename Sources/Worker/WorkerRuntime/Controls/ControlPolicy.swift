internal import EventContract
package import LocationSearch
package import QuotaSharing

/// The limits that a process's settings place on control orders, and the names by which operators know the process.
package struct ControlPolicy: Sendable {
    /// The ranges of the settings that orders override. No order may exceed them, not even a forced one.
    package static let (concurrencyRange, rateRange) = (1.0...65_536, 0.001...1_000_000)
    package static let logLevels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]

    /// The name by which operators know this process: its machine or its pod.
    package var worker: String
    /// `worker.concurrency`.
    package var concurrency: Int
    /// `worker.loops`.
    package var loops: Int
    /// `providers.<name>.requestsPerSecond`, for each provider that has this setting.
    package var rates: [ProviderID: Double]
    /// Sets the log level; `nil` restores the level of the settings.
    package var setLogLevel: @Sendable (String?) -> Void

    package init(
        worker: String, concurrency: Int, loops: Int, rates: [ProviderID: Double] = [:],
        setLogLevel: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        self.worker = worker
        (self.concurrency, self.loops, self.rates, self.setLogLevel) = (concurrency, loops, rates, setLogLevel)
    }

    // MARK: - Refusals

    /// Returns why the process refuses an order, as one line for an operator; `nil` if it accepts the order.
    /// - Parameter instance: this process's name in the fleet.
    func refusal(of order: ControlOrder, instance: String) -> String? {
        if let provider = order.provider, ProviderID(rawValue: provider) == nil {
            return "this version has no provider \(provider)"
        }
        switch order.control {
        case nil: return "this version has no control \(order.name)"
        case _ where order.isTakenBack: return nil
        case .pauseIntake: return nil
        case .pauseProvider, .retry: return order.provider == nil ? "the order must name a provider" : nil
        case .drain: return order.instance == instance ? nil : "a drain must name one worker"
        case .rate: return refusalOfRate(order)
        case .concurrency:
            return refusal(
                of: order, setting: "worker.concurrency", allows: Double(concurrency), range: Self.concurrencyRange)
        case .logLevel:
            return Self.logLevels.contains(order.level ?? "")
                ? nil : "the level must be one of \(Self.logLevels.joined(separator: ", "))"
        }
    }

    private func refusalOfRate(_ order: ControlOrder) -> String? {
        guard let provider = order.provider.flatMap({ ProviderID(rawValue: $0) }) else {
            return "the order must name a provider"
        }
        guard let rate = rates[provider] else {
            return "requestsPerSecond of \(provider.rawValue) is not set, so there is no rate to change"
        }
        return refusal(
            of: order, setting: "requestsPerSecond of \(provider.rawValue)", allows: rate, range: Self.rateRange)
    }

    private func refusal(
        of order: ControlOrder, setting: String, allows most: Double, range: ClosedRange<Double>
    ) -> String? {
        guard let number = order.number, range.contains(number) else {
            return "\(setting) must be \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))"
        }
        guard number > most, !order.isForced else { return nil }
        return "\(Self.plain(number)) is more than the setting allows: \(setting) is \(Self.plain(most))"
    }

    /// Formats a number; whole numbers have no decimal point.
    package static func plain(_ number: Double) -> String {
        Int(exactly: number).map { "\($0)" } ?? "\(number)"
    }

    // MARK: - Effects

    func laneControls(of orders: [ControlOrder]) -> LaneControls {
        var controls = LaneControls()
        for order in orders {
            let provider = order.provider.flatMap { ProviderID(rawValue: $0) }
            switch order.control {
            case .pauseIntake: controls.isIntakeOpen = false
            case .pauseProvider: if let provider { controls.providers[provider, default: .init()].isPaused = true }
            case .rate:
                if let provider { controls.providers[provider, default: .init()].perSecond = order.number }
            // `refusal(of:instance:)` has checked that the number is in the setting's range, which fits into an `Int`.
            case .concurrency: controls.concurrency = order.number.map { max(1, Int($0) / max(1, loops)) }
            case .logLevel, .drain, .retry, nil: break
            }
        }
        return controls
    }
}

/// The orders that apply to one process, for `/status` and metrics.
package struct ControlStatus: Sendable {
    /// An order, and whether the process has accepted it.
    package struct Entry: Sendable {
        package let order: ControlOrder
        /// The reason why the order was refused; `nil` if it was accepted.
        package let refusal: String?
    }

    /// The process's name in the fleet, unique among all processes and starts.
    package let instance: String
    /// `false` until the topic has been read: more orders may exist.
    package let isKnown: Bool
    package let entries: [Entry]

    /// Returns the order in force that pauses intake, or the given provider.
    package func pause(_ control: ControlOrder.Control, of provider: ProviderID? = nil) -> ControlOrder? {
        entries.first {
            $0.order.control == control && $0.refusal == nil && $0.order.provider == provider?.rawValue
        }?.order
    }
}

/// The times of an order as logs and `/status` show them: RFC 3339 in UTC.
extension ControlOrder {
    package var atText: String { WallTime(milliseconds: at).description }
    /// `nil` for an order that lasts until it is revoked.
    package var untilText: String? { until.map { WallTime(milliseconds: $0).description } }
    /// The sender of the order and its end: `by mori@ops until 2026-11-25T18:00:00.000Z`.
    package var origin: String { "by \(by) until \(untilText ?? "it is taken back")" }
}
