internal import Basics
internal import EventLoop
internal import Logging

/// Knows whether any broker answers one client, and reports it. Belongs to the client's actor.
final class BrokerWatch {
    /// How often it is said that no broker answers, while none does.
    static let reportInterval = Duration.seconds(60)

    /// How long connections to all brokers must have failed before that counts without librdkafka's event. Meanwhile the
    /// event comes, or a broker is found that answers.
    static let timeToBelieve = Duration.seconds(2)

    private let client: ClientHandle
    private let loop: EventLoop
    private let log: Logger
    /// True while no broker answers.
    private(set) var areDown = false
    /// False while somebody else reports what this client finds.
    var isReporting: Bool
    private(set) var isProbing = false
    private var lastReport: Instant?
    private var limiter = RepeatLimiter<Int32>()

    init(_ client: ClientHandle, isReporting: Bool, loop: EventLoop, log: Logger) {
        self.client = client
        self.isReporting = isReporting
        self.loop = loop
        self.log = log
    }

    /// Takes an error that concerns no single record.
    func report(_ error: KafkaError) {
        if error.saysAllBrokersAreDown {
            areDown = true
            reportIfDue(at: loop.now)
        } else if error.kind == .unreachable || error.isEndOfPartition || !isReporting {
            log.debug("\(client.role)", metadata: ["reason": "\(error)"])
        } else if let leftOut = limiter.admit(error.code, at: loop.now) {
            // Some errors come back with every attempt of the client.
            var metadata: Logger.Metadata = ["reason": "\(error)"]
            if leftOut > 0 { metadata["leftOut"] = "\(leftOut)" }
            log.warning("\(client.role)", metadata: metadata)
        }
    }

    /// Says that no broker answers, unless it was said within the last minute. Call it every second or more often: it also
    /// finds out where librdkafka's event is missing.
    func reportIfDue(at now: Instant) {
        if haveAllFailed(at: now) { areDown = true }
        guard areDown, isReporting else { return }
        if let lastReport, now - lastReport < Self.reportInterval { return }

        lastReport = now
        log.warning(
            "no broker answers; trying again until one does",
            metadata: ["tried": "\(client.brokerFailures.summary ?? "no address could be tried yet")"])
    }

    /// Returns whether connections to all brokers have failed for so long that none answers, event or not.
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

    /// Decides whether to ask for a sign of life. `probe` must follow when it is so: `isProbing` is true from here on, so that
    /// nobody destroys the client before the question was asked.
    func shallProbe() -> Bool {
        guard areDown, !isProbing else { return false }
        isProbing = true
        return true
    }

    /// Asks for a sign of life: librdkafka says when the last broker goes, not when one comes back.
    func probe() async {
        let isUp = await client.isAnsweredByABroker()
        isProbing = false
        if isUp { noteAnswer() }
    }

    /// Returns `error`, and with it why no broker answers where that is its cause.
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
