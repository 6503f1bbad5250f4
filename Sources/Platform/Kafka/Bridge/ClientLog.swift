internal import Basics
internal import Logging
internal import Synchronization

/// Forwards librdkafka's log lines to a `Logger`. Safe to call from any thread.
///
/// librdkafka repeats some lines at each of its attempts, once a second or more often. Of lines that differ only in
/// numbers, one is written every 30 seconds, with the number of suppressed lines. All lines at level debug are written.
final class ClientLog: Sendable {
    private struct Kind: Hashable {
        let facility: String
        let text: String
    }
    private let logger: Logger
    private let secrets: [String]
    private let failures: BrokerFailures?
    private let resets: OffsetResets?
    private let limiter = Mutex(RepeatLimiter<Kind>())

    /// - Parameters:
    ///   - secrets: Texts that must not appear in any line.
    ///   - failures: Receives the lines about unreachable brokers.
    ///   - resets: Receives the lines about offsets that the brokers no longer have.
    init(
        _ logger: Logger, hiding secrets: [String] = [], failures: BrokerFailures? = nil, resets: OffsetResets? = nil
    ) {
        (self.logger, self.secrets, self.failures, self.resets) = (logger, secrets, failures, resets)
    }

    /// - Parameter level: The syslog level, 0 (emergency) to 7 (debug).
    func write(level: Int32, facility: String, line: String) {
        let line = SecretProperties.hide(secrets, in: line)
        // Lines about an unreachable broker: the consumer and the producer report it themselves, with the reasons. They
        // include closed connections, the only sign that a broker requires TLS or a login.
        let isAboutBroker = facility == "FAIL" || facility == "ERROR"
        if facility == "FAIL" { failures?.note(line: line) }
        if facility == "OIDC" { failures?.noteToken(line: line) }

        // The consumer reports a reset itself, once it knows where reading continues.
        let isReset = facility == "OFFSET" && resets?.note(line: line) == true

        let level: Logger.Level =
            switch level {
            case _ where isAboutBroker || isReset || Self.isNoise(facility, line: line): .debug
            case ...3: .error
            case 4: .warning
            case 5: .info
            default: .debug
            }
        guard level >= logger.logLevel else { return }

        var metadata: Logger.Metadata = ["facility": "\(facility)", "line": "\(line)"]
        if level > .debug {
            let kind = Kind(facility: facility, text: String(line.filter { !$0.isNumber }))
            guard let leftOut = limiter.withLock({ $0.admit(kind, at: SystemClock.now) }) else { return }
            if leftOut > 0 { metadata["leftOut"] = "\(leftOut)" }
        }
        logger.log(level: level, "librdkafka", metadata: metadata)
    }

    /// Returns whether a line only repeats what the client reports elsewhere. librdkafka writes such a line at each
    /// query for a topic that it may not see, ten times a second. The topic and the reason are part of the client's
    /// state.
    private static func isNoise(_ facility: String, line: String) -> Bool {
        facility == "BROKER" && line.firstRange(of: " is unknown (partition_cnt ") != nil
    }
}
