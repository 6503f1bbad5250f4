internal import EventLoop
internal import Kafka
internal import Logging

/// Reports the topics that acknowledge no records although some are unconfirmed, with the cause if the brokers name
/// one.
///
/// Confined to its lane; not `Sendable`.
final class StalledTopics {
    private let detector: DeliveryStallDetector
    private let diagnostics: TopicDiagnostics
    private let backoff: TopicBackoff
    private let names: WorkerConfiguration.Topics
    private let loop: EventLoop
    private let log: Logger
    /// The diagnosis that was last logged for each topic.
    private var announced: [DeliveryStallDetector.Topic: TopicDiagnosis] = [:]

    /// - Parameter backoff: the topics that refuse records. It reports their problems itself, and logs those of others.
    init(
        _ detector: DeliveryStallDetector, diagnostics: TopicDiagnostics, backoff: TopicBackoff,
        names: WorkerConfiguration.Topics, loop: EventLoop, log: Logger
    ) {
        self.detector = detector
        (self.diagnostics, self.backoff, self.names, self.loop, self.log) = (diagnostics, backoff, names, loop, log)
    }

    /// `true` while a topic of outcomes acknowledges nothing. Dead letters block single partitions only.
    var includeOutcomes: Bool { detector.stalledTopics(at: loop.now).contains { $0 != .deadLetters } }

    /// One line for each topic that acknowledges nothing. `blockedTopics` omits topics for which no broker answers.
    var status: (problems: [String], blockedTopics: [String]) {
        let now = loop.now
        let stalled = detector.stalledTopics(at: now).map(names.name).filter { !backoff.blocks($0) }
        let diagnosed = stalled.map { (name: $0, diagnosis: diagnostics.diagnosis(of: $0, at: now)) }

        let problems = diagnosed.map { $1?.problem(of: $0) ?? "topic \($0) does not confirm records" }
        let blocked = diagnosed.filter { $0.diagnosis != .noBrokerAnswers }.map(\.name)
        return (problems, blocked)
    }

    /// Logs one line for each topic that has timed out, has timed out for another reason, or has recovered.
    func announceChanges() {
        let now = loop.now
        let stalled = detector.stalledTopics(at: now)
        guard !stalled.isEmpty || !announced.isEmpty else { return }

        for topic in stalled {
            let name = names.name(of: topic)
            guard let diagnosis = diagnostics.diagnosis(of: name, at: now), diagnosis != announced[topic] else {
                continue
            }
            announced[topic] = diagnosis
            backoff.announce(diagnosis, of: name, reason: diagnosis.text)
        }

        for topic in DeliveryStallDetector.Topic.allCases where !stalled.contains(topic) {
            let name = names.name(of: topic)
            if announced.removeValue(forKey: topic) != nil {
                log.info("a topic confirms records again", metadata: ["topic": "\(name)"])
            }
            if !backoff.contains(name) { diagnostics.forget(name) }
        }
    }
}
