import Kafka
import WorkerRuntime

/// Checks the topic that workers use to share rate limits and daily budgets.
struct FleetCheck: DoctorCheck {
    static let name = "fleet"

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard let cluster = examination.cluster else {
            return [skipped(examination.reasonWithoutBrokers ?? "", cure: Examination.brokersFirst)]
        }
        guard examination.sharesByTopic else {
            return [
                ok("needed for orders of locsearch controls only: no limit is shared by demand, and no budget kept")
            ]
        }

        let name = examination.settings.topics.fleet
        guard let topic = cluster.topics[name] else {
            return [
                failed(
                    "\(name) is missing: each worker has only the share of its partitions, and daily budgets are not kept",
                    cure: "`locsearch topics create` makes it")
            ]
        }
        guard topic.partitions == 1 else {
            return [
                warning(
                    "\(name) has \(topic.partitions) partitions, of which workers use the first only",
                    cure: "make it anew with one partition while no worker runs")
            ]
        }
        return [ok("\(name) has one partition")]
    }
}
