import Basics
import LocationSearch
import QuotaSharing
import Resilience
import SimulatedLoop

/// The phase of a worker when a fault hits it. Several may apply at once.
///
/// Phases are observed from outside, in the simulated clients and the provider, so that the worker needs no code for them.
enum WorkerPhase: String, CaseIterable {
    /// No lane has been assigned a partition yet.
    case starting
    /// Partitions were assigned so recently that the share of the rate that comes with them may not be used yet.
    case settling
    /// A rebalance callback is in progress.
    case rebalancing
    /// Calls to a provider are in flight.
    case calling
    /// Requests wait, and no call is in flight.
    case waiting
    /// A breaker is open, or the provider has asked for a pause.
    case breakerOpen = "breaker open"
    /// A transaction is open, and not being committed.
    case transactionOpen = "transaction open"
    /// Offsets, or a transaction with them, are being committed.
    case committing
    case draining
    /// The worker is in no other phase.
    case idle

    /// The names of all phases, in the order of a table's columns.
    static var names: [String] { allCases.map(\.rawValue) }
}

/// Tracks which breakers of a process are open, from the transitions that its lanes report.
final class BreakerWatch: @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    private let simulation: Simulation
    /// The number of breakers that are not closed, over all lanes, by provider.
    private var open: [ProviderID: Int] = [:]
    /// The simulation's time until which an open breaker lets no probe through, by provider.
    private var shut: [ProviderID: Instant] = [:]

    init(_ simulation: Simulation) { self.simulation = simulation }

    var isAnyOpen: Bool { open.values.contains { $0 > 0 } }

    /// Returns true while the breaker of a provider lets nothing through.
    func isOpen(_ provider: ProviderID) -> Bool { shut[provider].map { simulation.now < $0 } ?? false }

    func note(_ transition: CircuitBreaker.Transition, of provider: ProviderID) {
        switch (transition.to, transition.reason) {
        case (.open, .failureRate?), (.open, .slowCallRate?), (.open, .probesFailed?):
            // Clocks drift by up to 0.5 %, and waits have whole milliseconds.
            shut[provider] = transition.openFor.map { simulation.now + $0 * 0.99 - .milliseconds(20) }
        case (.open, _), (.closed, _): shut[provider] = nil
        case (.halfOpen, _), (.paused, _): break
        }
        if transition.from == .closed, transition.to != .closed { open[provider, default: 0] += 1 }
        if transition.from != .closed, transition.to == .closed { open[provider, default: 0] -= 1 }
    }
}

extension SimulatedWorker {
    /// Returns the phases that the process is in.
    func phases(in world: FleetWorld) -> [WorkerPhase] {
        var phases: [WorkerPhase] = []
        let assignments = lanes.compactMap(\.source.lastAssignment)
        if assignments.isEmpty { phases.append(.starting) }
        if world.plan.hasRateLimit, lanes.contains(where: isSettling) { phases.append(.settling) }
        if lanes.contains(where: { $0.source.rebalancesUnderway > 0 }) { phases.append(.rebalancing) }

        let isCalling = world.callsUnderway(of: name) > 0
        if isCalling { phases.append(.calling) }
        if !isCalling, lanes.contains(where: \.source.hasWork) { phases.append(.waiting) }
        if breakers.isAnyOpen { phases.append(.breakerOpen) }

        let sinks = lanes.compactMap(\.sinks.made.last)
        let isCommitting = sinks.contains(where: \.isCommitting) || lanes.contains { $0.source.commitsUnderway > 0 }
        if sinks.contains(where: { $0.isTransactionOpen && !$0.isCommitting }) { phases.append(.transactionOpen) }
        if isCommitting { phases.append(.committing) }
        if state == .draining { phases.append(.draining) }
        return phases.isEmpty ? [.idle] : phases
    }

    private func isSettling(_ lane: SimulatedLane) -> Bool {
        guard let last = lane.source.lastAssignment else { return false }
        return last.duration(to: lane.loop.clock.now) < LeaseTimes.settling
    }
}

extension Fault {
    /// The member that a fault hits; `nil` for a fault that hits all of them.
    var member: Int? {
        switch kind {
        case .kill(let member, _), .stop(let member, _), .cut(let member, _, _, _), .deploy(let member),
            .clockStep(let member, _):
            member
        default: nil
        }
    }
}
