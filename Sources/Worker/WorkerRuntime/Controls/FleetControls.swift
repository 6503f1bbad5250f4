internal import Basics
package import EventLoop
package import Logging
internal import LocationSearch
internal import ProviderCalls
internal import QuotaSharing

/// Applies control orders to one process: reads them from the fleet topic, applies them to the lanes, and answers them.
///
/// Lanes begin no request before the orders are known, so that a pause survives a restart. If the topic cannot be read,
/// they begin after `longestWait`.
package actor FleetControls {
    /// The longest time for which lanes wait for the orders when the process starts.
    private static let longestWait = Duration.seconds(3)
    /// The longest time between two ticks.
    private static let tick = Duration.seconds(1)
    private static let tickBeforeKnown = Duration.milliseconds(50)

    private nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let policy: ControlPolicy
    private let member: ControlMember
    private let log: Logger
    private let wakeUp = WakeUp()
    private var link: FleetLink?
    private var lanes: [WorkerLane] = []
    private var hasEnded = false
    /// The time at which lanes begin even if the orders are not known.
    private var waitEnd: Instant?

    /// The orders that apply to this process, each with the reason why it was refused.
    private var entries: [ControlStatus.Entry] = []
    private var applied: LaneControls?
    private var appliedLevel: String?
    /// The last order that was read; it may have ended others.
    private var lastOrder: ControlOrder?

    /// - Parameters:
    ///   - name: this process's name in the fleet: unique, and new after each start.
    ///   - loop: the loop on which this actor runs.
    package init(_ policy: ControlPolicy, name: String, loop: EventLoop, log: Logger) {
        (self.policy, self.loop, self.log) = (policy, loop, log)
        member = ControlMember(name: name, at: loop.now)
    }

    package var status: ControlStatus {
        ControlStatus(instance: member.name, isKnown: member.isKnown, entries: entries)
    }

    // MARK: - Life

    /// Begins to control the lanes, before any of them has begun, and pauses their intake until the orders are known.
    func attach(_ lanes: [WorkerLane], link: FleetLink?) async {
        (self.lanes, self.link) = (lanes, link)
        if link != nil { waitEnd = loop.now + Self.longestWait }
        await applyOrders()
    }

    /// Calls `tick` until `end`.
    func run() async {
        while !hasEnded {
            await tick()
            await wakeUp.rest(for: timeToNextTick, on: loop)
        }
    }

    func end() {
        hasEnded = true
        wakeUp.wake()
    }

    private func tick() async {
        if let message = member.tick(at: loop.now, wall: wallTime) { publish(message) }
        await applyOrders()
    }

    private var timeToNextTick: Duration {
        if isWaiting { return Self.tickBeforeKnown }
        guard let end = member.book.nextEnd(after: wallTime) else { return Self.tick }
        return min(Self.tick, .milliseconds(max(1, end.saturatingSubtracting(wallTime))))
    }

    private var wallTime: Int64 { loop.wallNow.milliseconds }

    /// True while lanes wait for the orders.
    private var isWaiting: Bool {
        guard !member.isKnown, let waitEnd else { return false }
        return loop.now < waitEnd && link?.hasFailed != true
    }

    // MARK: - The topic

    /// - Returns: `true` if the topic must be read from its oldest record on.
    func receive(_ received: FleetNews) async -> Bool {
        if let extent = received.opened { member.begin(extent, at: loop.now) }
        for record in received.records {
            var message: ControlMessage?
            if case .control(let control) = record.message { message = control }
            guard let news = member.read(message, at: record.offset, now: loop.now) else { continue }

            switch news {
            case .question(let question, let sender):
                answer(sender, refusal: question.order.flatMap { policy.refusal(of: $0, instance: member.name) })
            case .order(let order, let sender):
                lastOrder = order
                // The order is applied before it is acknowledged.
                await applyOrders()
                let refusal = policy.refusal(of: order, instance: member.name)
                if order.control == .retry, refusal == nil { await retry(by: order) }
                answer(sender, refusal: refusal)
                if order.control == .drain, refusal == nil { await drain(by: order) }
            }
        }
        await applyOrders()
        return member.needsOlderRecords
    }

    private func answer(_ sender: String, refusal: String?) {
        publish(member.answer(to: sender, as: policy.worker, refusal: refusal))
    }

    private func publish(_ message: ControlMessage) { link?.publish([.control(message)]) }

    private func drain(by order: ControlOrder) async {
        log.notice("the worker drains and stops, as ordered", metadata: Self.metadata(of: order))
        for lane in lanes { await lane.drain() }
    }

    private func retry(by order: ControlOrder) async {
        guard let provider = order.provider.flatMap({ ProviderID(rawValue: $0) }) else { return }
        log.notice("the next request calls a provider again, as ordered", metadata: Self.metadata(of: order))
        for lane in lanes { await lane.renewKey(of: provider) }
    }

    // MARK: - Orders

    /// Applies the orders that are in force now.
    private func applyOrders() async {
        let orders = member.book.inForce(for: member.name, at: wallTime)
        if orders != entries.map(\.order) { review(orders) }

        let taken = takenOrders
        var controls = policy.laneControls(of: taken)
        if isWaiting { controls.isIntakeOpen = false }
        guard controls != applied, !lanes.isEmpty else { return }
        applied = controls
        for lane in lanes {
            // While this call waited for a lane, another call may have applied newer orders. That call updates all
            // lanes.
            guard applied == controls else { return }
            await lane.apply(controls)
        }
    }

    private var takenOrders: [ControlOrder] { entries.filter { $0.refusal == nil }.map(\.order) }

    /// Stores the orders that apply now, and sets the log level.
    ///
    /// If an order changes the level, its start is logged at the previous level, and its end at the restored one.
    private func review(_ orders: [ControlOrder]) {
        let before = entries
        entries = orders.map { order in
            before.first { $0.order == order }
                ?? ControlStatus.Entry(order: order, refusal: policy.refusal(of: order, instance: member.name))
        }

        let level = takenOrders.first { $0.control == .logLevel }?.level
        if level == nil { setLogLevel(nil) }
        logChanges(since: before, to: orders)
        if let level { setLogLevel(level) }
    }

    private func setLogLevel(_ level: String?) {
        guard level != appliedLevel else { return }
        appliedLevel = level
        policy.setLogLevel(level)
    }

    /// Logs one line for each new order, and one for each order that has ended.
    private func logChanges(since before: [ControlStatus.Entry], to orders: [ControlOrder]) {
        for entry in before where entry.refusal == nil && !orders.contains(entry.order) {
            var metadata = Self.metadata(of: entry.order)
            metadata["because"] = "\(reasonOfEnd(of: entry.order))"
            log.notice("an order has ended", metadata: metadata)
        }
        for entry in entries where !before.contains(where: { $0.order == entry.order }) {
            var metadata = Self.metadata(of: entry.order)
            if let refusal = entry.refusal {
                metadata["reason"] = "\(refusal)"
                log.warning("an order was rejected", metadata: metadata)
            } else {
                log.notice("an order was applied", metadata: metadata)
            }
        }
    }

    private func reasonOfEnd(of order: ControlOrder) -> String {
        if order.isOver(at: wallTime) { return "it expired" }
        guard let last = lastOrder, last.changesTheSame(as: order) else { return "it is no longer in the topic" }
        return "\(last.isTakenBack ? "taken back" : "replaced") by \(last.by)"
    }

    private static func metadata(of order: ControlOrder) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "control": "\(order.name)", "by": "\(order.by)", "at": "\(order.atText)",
            "for": "\(order.instance == nil ? "the fleet" : "this worker")",
        ]
        if !order.appliesOnce { metadata["until"] = "\(order.untilText ?? "taken back")" }
        if let provider = order.provider { metadata["provider"] = "\(provider)" }
        if let number = order.number { metadata["value"] = "\(ControlPolicy.plain(number))" }
        if let level = order.level { metadata["value"] = "\(level)" }
        if order.isForced { metadata["isForced"] = "true" }
        return metadata
    }
}
