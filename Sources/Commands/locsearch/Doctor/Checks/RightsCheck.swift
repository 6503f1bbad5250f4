import Kafka
import WorkerRuntime

/// Checks whether this user has the permissions on topics that a worker needs.
struct RightsCheck: DoctorCheck {
    static let name = "rights"

    /// How long a broker may take to refuse a reader. An allowed reader gets no answer within this time.
    private static let refusalTime = Duration.milliseconds(500)

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let (consumer, connection) = (try examination.consumer(), try examination.connected())
        let topics = examination.settings.topics
        let known = examination.roles.flatMap { role in role.names(in: topics).map { (role: role, name: $0) } }
            .filter { connection.cluster.topics[$0.name] != nil }
        guard !known.isEmpty else {
            throw SkippedCheck("none of the topics exists", cure: "create them with `locsearch topics create`")
        }

        var findings: [Finding] = []
        for topic in known where topic.role == .requests {
            if let refusal = await refusal(of: consumer, topic.name, examination) { findings.append(refusal) }
        }
        findings += await reported(known, by: connection.admin, within: examination.timeout)
        return findings.isEmpty ? [ok("this user has all rights on topics that a worker needs")] : findings
    }

    /// Compares the rights that the brokers report with those that a worker needs.
    private func reported(
        _ topics: [(role: RecommendedTopic.Role, name: String)], by admin: TopicAdmin, within timeout: Duration
    ) async -> [Finding] {
        var findings: [Finding] = []
        // The reason is usually the same for all topics.
        var untold: String?
        for (role, name) in topics {
            do throws(KafkaError) {
                guard let had = try await admin.operations(on: name, within: timeout) else {
                    untold = untold ?? "the brokers do not report rights"
                    continue
                }
                let missing = role.operations.filter { !had.contains($0) }.map(\.name)
                guard !missing.isEmpty else { continue }
                findings.append(
                    failed(
                        "this user lacks \(missing.joined(separator: " and ")) on \(name)",
                        cure: "grant it: docs/access.md has the commands"))
            } catch {
                untold = untold ?? error.description
                if error.kind == .unsupported || error.kind == .timedOut { break }
            }
        }

        guard let untold else { return findings }
        let text = "whether this user may write to topics, and use the fleet topic if it is needed (\(untold))"
        return findings + [unknown(text, cure: "compare the ACLs with docs/access.md")]
    }

    /// Reads from the end of a request topic. If this is allowed, it returns no records and has no effect.
    private func refusal(
        of consumer: ConsumerConfiguration, _ topic: String, _ examination: Examination
    ) async -> Finding? {
        do throws(KafkaError) {
            let reader = try TopicReader(consumer, log: examination.log)
            try await reader.open([topic], at: .end, within: examination.timeout)
            _ = try await reader.records(max: 1, within: Self.refusalTime)
            return nil
        } catch {
            let cure =
                error.kind == .authentication
                ? "grant this user Read on it: docs/access.md has the commands"
                : "check the brokers that hold it, and their log"
            return failed("\(topic) cannot be read (\(error))", cure: cure)
        }
    }
}

extension RecommendedTopic.Role {
    /// The operations that a worker performs on the topic.
    fileprivate var operations: [TopicOperation] {
        switch self {
        case .requests: [.read]
        case .results, .errors, .deadLetters: [.write]
        case .fleet: [.read, .write]
        }
    }
}
