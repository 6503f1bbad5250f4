import LocationSearch
import ProviderCalls
import QuotaSharing
import Resilience
import SimulatedKafkaClients
import WorkerRuntime

extension FleetPlan: CustomStringConvertible {
    /// The settings of the workers, for the head of a story.
    public var description: String {
        """
        seed \(seed): \(members) members of \(lanes) lanes\(isStatic ? ", static" : ""), \(brokers) brokers, \
        \(partitions) partitions, group protocol \(groupProtocol) (\(assignor.rawValue)), \(delivery.rawValue), \
        \(ordering.rawValue), concurrency \(concurrency), \(requests.count) requests
        provider: responds in \(latency.lowerBound) to \(latency.upperBound) s, \(failures.short) fail, \
        limit \(rateLimit.map { "\($0.perSecond)/s, burst \($0.burst.short)" } ?? "none") (\(share)), whenOpen \(whenOpen.rawValue), \
        \(budgets.isEmpty ? "no budget" : budgets.map { "\($0.limit) of \($0.account)" }.joined(separator: ", "))
        \(mixture.map { "classes, floor \($0.batchFloor)\($0.hasTenants ? ", tenants" : ""), \($0.lookAheadBytes) bytes read ahead\($0.unconfirmedOutcomes.map { ", \($0) outcomes" } ?? "")\n" } ?? "")\
        messages: \(fateOfMessages); metadata of an offset: \(keepsMetadata ? "\(settings.doneSetBytes) bytes" : "none")\
        \(olderProcesses == 0 ? "" : ", and some processes are of an older version")
        """
    }
}
