internal import Basics
internal import EventLoop
internal import Logging

/// Tracks whether any broker answers one client, and logs outages. Belongs to the client's actor.
final class BrokerWatch {
    /// The interval between log lines during an outage of all brokers.
    static let reportInterval = Duration.seconds(60)

    /// How long connections to all brokers must have failed before this counts as an outage without librdkafka's event.
    /// This leaves time for the event to arrive, or for a broker to answer.
    static let timeToBelieve = Duration.seconds(2)

    private let client: ClientHandle
    private let loop: EventLoop
    private let log: Logger
    /// True while no broker answers.
    private(set) var areDown = false
    /// False while another client logs what this one finds.
    var isReporting: Bool
    private(set) var isProbing = false
    private var lastReport: Instant?
    private var limiter = RepeatLimiter<Int32>()

    init(_ client: ClientHandle, isReporting: Bool, loop: EventLoop, log: Logger) {
        (self.client, self.isReporting, self.loop, self.log) = (client, isReporting, loop, log)
    }

    /// Handles an error that does not concern a single record.
    func report(_ error: KafkaError) {
        if error.areAllBrokersDown {
            areDown = true
            reportIfDue(at: loop.now)
        } else if error.kind == .unreachable || !isReporting {
            log.debug("\(client.role)", metadata: ["reason": "\(error)"])
        } else if let leftOut = limiter.admit(error.code, at: loop.now) {
            // librdkafka repeats some errors at each attempt.
            var metadata: Logger.Metadata = ["reason": "\(error)"]
            if leftOut > 0 { metadata["leftOut"] = "\(leftOut)" }
            log.warning("\(client.role)", metadata: metadata)
        }
    }

    /// Logs that no broker answers, at most once a minute. Call it at least once a second: it also detects an outage
    /// for which librdkafka sent no event.
    func reportIfDue(at now: Instant) {
        if haveAllFailed(at: now) { areDown = true }
        guard areDown, isReporting else { return }
        if let lastReport, now - lastReport < Self.reportInterval { return }

        lastReport = now
        log.warning(
            "no broker answers; retrying",
            metadata: ["tried": "\(client.brokerFailures.summary ?? "no address tried yet")"])
    }

    /// Returns whether connections to all brokers have failed for long enough to count as an outage without an event.
    private func haveAllFailed(at now: Instant) -> Bool {
        client.connections.allFailedSince.map { now - $0 >= Self.timeToBelieve } ?? false
    }

    func noteAnswer() {
        guard areDown else { return }
        areDown = false
        client.brokerFailures.clear()

        if lastReport != nil { log.info("brokers answer again") }
        lastReport = nil
    }

    /// Returns whether the caller must call `probe` now. `isProbing` is true from here on, so that the client is not
    /// destroyed before the probe.
    func shallProbe() -> Bool {
        guard areDown, !isProbing else { return false }
        isProbing = true
        return true
    }

    /// Checks whether any broker answers. librdkafka reports that the last broker failed, but not that one is back.
    func probe() async {
        let isUp = await client.isAnsweredByABroker()
        isProbing = false
        if isUp { noteAnswer() }
    }

    /// Returns `error`, with the reasons for a broker outage added if that outage is its likely cause.
    func explain(_ error: KafkaError) -> KafkaError {
        let isSymptom = error.kind == .timedOut || error.kind == .unreachable || error.kind == .retriable
        guard areDown || haveAllFailed(at: loop.now), isSymptom, let summary = client.brokerFailures.summary else {
            return error
        }

        let explained = KafkaError(
            error.kind, code: error.code, "\(error.description); no broker answers: \(summary)")
        return error.status.map(explained.with) ?? explained
    }
}
