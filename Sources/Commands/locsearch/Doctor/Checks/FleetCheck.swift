import Kafka
import WorkerRuntime

/// Checks the topic that workers use to share rate limits and daily budgets.
struct FleetCheck: DoctorCheck {
    static let name = "fleet"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let cluster = try examination.connected().cluster
        guard examination.sharesByTopic else {
            return [
                ok("used for locsearch controls only: no limit is shared by demand, and there is no daily budget")
            ]
        }

        let name = examination.settings.topics.fleet
        guard let topic = cluster.topics[name] else {
            return [
                failed(
                    "\(name) is missing: each worker has only the share of its partitions, and daily budgets are not enforced",
                    cure: "create it with `locsearch topics create`")
            ]
        }
        guard topic.partitions == 1 else {
            return [
                warning(
                    "\(name) has \(topic.partitions) partitions, but workers use only the first",
                    cure: "delete it and create it with one partition while no worker runs")
            ]
        }
        return [ok("\(name) has one partition")]
    }
}
