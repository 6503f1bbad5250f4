import Basics
import LocationSearch
import Synchronization
import WorkerRuntime

/// Chooses the tenants with a dedicated series in `/metrics`. The requests of all other tenants are counted as `other`.
///
/// Producers choose the names of tenants, so their number is unlimited. A tenant keeps its series until none of its
/// requests has waited for `idleTime`. New tenants get a series only once one is free.
final class TenantSeries: Sendable {
    static let (most, other) = (10, "other")
    static let idleTime = Duration.seconds(900)
    private static let longestName = 128

    private let lastWaited = Mutex<[String: Instant]>([:])

    /// Returns the number of waiting requests by class and tenant.
    /// - Parameter flows: sorted by the number of waiting requests, largest first.
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
