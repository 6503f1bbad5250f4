internal import Basics
internal import EventLoop
internal import Kafka
internal import Synchronization

/// Asks the brokers what they say of topics whose records nobody confirms, and keeps the last answer on each.
///
/// No delivery report says why a record is not confirmed, because librdkafka goes on trying. The topic is blamed only where
/// a broker does so. Confined to its lane; not `Sendable`.
final class TopicDiagnostics {
    /// How long an answer holds before the brokers are asked again.
    private static let period = Duration.seconds(5)

    /// The knowledge of one topic. The task that asks writes the answer, so a lock guards it.
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

    /// Returns the last answer, and asks again where it is old. Asks nobody while an answer is under way.
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

    /// Forgets what was said of a topic, because it confirms records again.
    func forget(_ topic: String) { entries[topic] = nil }
}

extension TopicDiagnosis {
    /// One line for a person, which says what to look at.
    var text: String {
        switch self {
        case .noBrokerAnswers: "no broker answers"
        case .refused(let error): "\(error)"
        case .withoutLeader(let partitions):
            "no broker leads \(partitions.count == 1 ? "partition" : "partitions")"
                + " \(partitions.map(String.init).joined(separator: ", "))"
        case .complete:
            "the brokers answer and know the topic: in-sync replicas may be missing, or brokers be overloaded or out of disk"
        }
    }

    /// The state of the topic as one line for a person: it takes no records only where a broker says so.
    func problem(of topic: String) -> String {
        if case .refused = self { return "topic \(topic) takes no records: \(text)" }
        return "topic \(topic) confirms no records: \(text)"
    }
}
