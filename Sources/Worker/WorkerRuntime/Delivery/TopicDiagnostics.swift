internal import EventLoop
internal import Kafka
internal import Synchronization

/// Asks the brokers about topics whose records are not acknowledged, and caches the last answer for each topic.
///
/// No delivery report states why a record is unconfirmed, because librdkafka keeps retrying. A topic is reported as the
/// cause only if a broker reports it as such. Confined to its lane; not `Sendable`.
final class TopicDiagnostics {
    /// The time for which an answer is used before the brokers are asked again.
    private static let period = Duration.seconds(5)

    /// The last answer about one topic. A lock guards it, because the task that asks writes it.
    private final class Answer: Sendable {
        let diagnosis = Mutex<TopicDiagnosis?>(nil)
    }
    private struct Entry {
        let answer = Answer()
        var askedAt: Instant
    }

    private let source: any RequestSource
    private let loop: EventLoop
    private var entries: [String: Entry] = [:]

    init(source: any RequestSource, loop: EventLoop) {
        self.source = source
        self.loop = loop
    }

    /// Returns the last answer, and starts a new query if it is older than `period`.
    /// - Returns: `nil` until the first answer.
    func diagnosis(of topic: String, at now: Instant) -> TopicDiagnosis? {
        if let entry = entries[topic], now - entry.askedAt < Self.period {
            return entry.answer.diagnosis.withLock { $0 }
        }

        var entry = entries[topic] ?? Entry(askedAt: now)
        entry.askedAt = now
        entries[topic] = entry
        Task(executorPreference: loop) { [source, answer = entry.answer] in
            let diagnosis = await source.diagnosis(of: topic)
            answer.diagnosis.withLock { $0 = diagnosis }
        }
        return entry.answer.diagnosis.withLock { $0 }
    }

    /// Removes the answer about a topic that acknowledges records again.
    func forget(_ topic: String) { entries[topic] = nil }
}

extension TopicDiagnosis {
    /// One line for an operator, which names what to check.
    var text: String {
        switch self {
        case .noBrokerAnswers: "no broker answers"
        case .refused(let error): "\(error)"
        case .withoutLeader(let partitions):
            "no broker is the leader of \(partitions.count == 1 ? "partition" : "partitions")"
                + " \(partitions.map(String.init).joined(separator: ", "))"
        case .complete:
            "the brokers answer and have the topic: check for missing in-sync replicas, overloaded brokers and full disks"
        }
    }

    /// The state of the topic as one line for an operator. Its wording is "rejects records" only if a broker refused
    /// one.
    func problem(of topic: String) -> String {
        if case .refused = self { return "topic \(topic) rejects records: \(text)" }
        return "topic \(topic) does not confirm records: \(text)"
    }
}
