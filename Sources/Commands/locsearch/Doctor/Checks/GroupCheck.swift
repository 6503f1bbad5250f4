import Kafka
import WorkerRuntime

/// Checks the consumer group of the workers: whether this user may use it, and its state.
struct GroupCheck: DoctorCheck {
    static let name = "group"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let (consumer, cluster) = (try examination.consumer(), try examination.connected().cluster)
        let ids = examination.settings.topics.requestTopics.map(\.name).flatMap { topic in
            (0..<(cluster.topics[topic]?.partitions ?? 0)).map { TopicPartition(topic, Int32(clamping: $0)) }
        }
        do throws(KafkaError) {
            let admin = try GroupAdmin(consumer, log: examination.log)
            return [await finding(by: admin, of: ids, in: consumer, within: examination.timeout)]
        } catch {
            return [refused(error, group: consumer.groupID)]
        }
    }

    private func finding(
        by admin: GroupAdmin, of ids: [TopicPartition], in consumer: ConsumerConfiguration, within timeout: Duration
    ) async -> Finding {
        let group = consumer.groupID
        let commits: [TopicPartition: CommittedOffset]
        do throws(KafkaError) {
            commits = ids.isEmpty ? [:] : try await admin.commits(of: ids, within: timeout)
        } catch {
            return refused(error, group: group)
        }

        let start = commits.isEmpty ? "; no committed offsets, so it starts at the oldest request" : ""
        do throws(KafkaError) {
            let description = try await admin.description(within: timeout)
            let presence = GroupPresence(description, hasCommits: !commits.isEmpty)
            return ok("\(group): \(presence.words)\(start)")
        } catch {
            guard error.kind == .unsupported else { return refused(error, group: group) }
            return unknown(
                "\(group): the brokers cannot describe groups\(start)",
                cure: "use `locsearch offsets show` for the committed offsets"
            )
        }
    }

    private func refused(_ error: KafkaError, group: String) -> Finding {
        let isRight = error.kind == .authentication
        return failed(
            "the group \(group) cannot be used (\(error))",
            cure: isRight
                ? "grant this user Read on the group: docs/access.md has the commands"
                : "check the group's coordinator, and the log of the brokers")
    }
}
