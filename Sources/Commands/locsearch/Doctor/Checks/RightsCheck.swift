import Kafka
import WorkerRuntime

/// Checks whether this user has the permissions on topics that a worker needs.
struct RightsCheck: DoctorCheck {
    static let name = "rights"

    /// How long a broker may take to refuse a reader. An allowed reader gets no answer within this time.
    private static let refusalTime = Duration.milliseconds(500)

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard let cluster = examination.cluster, let admin = examination.admin, let consumer = examination.consumer
        else { return [skipped(examination.reasonWithoutBrokers ?? "", cure: Examination.brokersFirst)] }

        let topics = examination.settings.topics
        let known = examination.roles.flatMap { role in role.names(in: topics).map { (role: role, name: $0) } }
            .filter { cluster.topics[$0.name] != nil }
        guard !known.isEmpty else {
            return [skipped("none of the topics exists", cure: "create them with `locsearch topics create`")]
        }

        var findings: [Finding] = []
        for topic in known where topic.role == .requests {
            if let refusal = await refusal(of: consumer, topic.name, examination) { findings.append(refusal) }
        }

        // The reason is usually the same for all topics.
        var untold: String?
        for (role, name) in known {
            do throws(KafkaError) {
                guard let had = try await admin.operations(on: name, within: examination.timeout) else {
                    untold = untold ?? "the brokers do not report rights"
                    continue
                }
                let missing = role.operations.filter { !had.contains($0) }.map(\.name)
                if !missing.isEmpty {
                    findings.append(
                        failed(
                            "this user lacks \(missing.joined(separator: " and ")) on \(name)",
                            cure: "grant it: docs/access.md has the commands"))
                }
            } catch {
                untold = untold ?? error.description
                if error.kind == .unsupported || error.kind == .timedOut { break }
            }
        }

        if let untold {
            findings.append(
                unknown(
                    "whether this user may write to topics, and read \(topics.fleet) if it is used (\(untold))",
                    cure: "compare the ACLs with docs/access.md"))
        }
        return findings.isEmpty ? [ok("this user has all rights on topics that a worker needs")] : findings
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
