import Basics
import LocationSearch
import Synchronization
import WorkerRuntime

/// The tenants that have a series of their own in `/metrics`; the requests of all others are shown as those of `other`.
///
/// Producers choose the names of tenants, so that any number of them could come in a day. A tenant keeps its series until nothing of
/// it has waited for `idleTime`, and a further one gets none before one is free.
final class TenantSeries: Sendable {
    static let (most, other) = (10, "other")
    static let idleTime = Duration.seconds(900)
    private static let longestName = 128

    private let lastWaited = Mutex<[String: Instant]>([:])

    /// Returns the number of waiting requests by class and name.
    /// - Parameter flows: those of which most wait first.
    func counts(of flows: [LaneStatus.WaitingFlow], at now: Instant = .now) -> [Flow: Int] {
        lastWaited.withLock { lastWaited in
            lastWaited = lastWaited.filter { $0.value.duration(to: now) < Self.idleTime }
            return flows.reduce(into: [:]) { counts, waiting in
                var name = String(waiting.flow.tenant.prefix(Self.longestName))
                guard !name.isEmpty else { return }
                if lastWaited[name] == nil, lastWaited.count >= Self.most {
                    name = Self.other
                } else {
                    lastWaited[name] = now
                }
                counts[Flow(waiting.flow.requestClass, tenant: name), default: 0] += waiting.count
            }
        }
    }
}
