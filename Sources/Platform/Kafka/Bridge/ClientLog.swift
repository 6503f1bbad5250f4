internal import Basics
internal import Logging
internal import Synchronization

/// Carries librdkafka's own log lines to a `Logger`. Safe to call from any thread.
///
/// The client writes some lines with each of its attempts, once a second and more. Of lines that differ in numbers only,
/// one is written every 30 seconds; it says how many were left out. Lines at level debug are written all.
final class ClientLog: Sendable {
    private struct Kind: Hashable {
        let facility: String
        let text: String
    }
    private let logger: Logger
    private let secrets: [String]
    private let failures: BrokerFailures?
    private let resets: OffsetResets?
    private let requests: BrokerRequestLog?
    private let limiter = Mutex(RepeatLimiter<Kind>())

    /// - Parameters:
    ///   - secrets: Texts that must not show in any line.
    ///   - failures: Gets the lines about brokers that cannot be reached.
    ///   - resets: Gets the lines about offsets that the brokers do not have any more.
    ///   - requests: Gets the lines about the requests that brokers take.
    init(
        _ logger: Logger, hiding secrets: [String] = [], failures: BrokerFailures? = nil, resets: OffsetResets? = nil,
        requests: BrokerRequestLog? = nil
    ) {
        self.logger = logger
        self.secrets = secrets
        self.failures = failures
        self.resets = resets
        self.requests = requests
    }

    /// - Parameter level: syslog's, 0 (emergency)...7 (debug).
    func write(level: Int32, facility: String, line: String) {
        let line = SecretProperties.hide(secrets, in: line)
        // Lines about a broker that is away: the consumer and the producer report that themselves, with the reasons. Among
        // them are connections that were closed, which is all that a broker says where TLS or a login is wanted.
        let isAboutBroker = facility == "FAIL" || facility == "ERROR"
        if facility == "FAIL" { failures?.note(line: line) }
        if facility == "APIVERSION" { requests?.note(line: line) }
        if facility == "OIDC" { failures?.noteToken(line: line) }

        // The consumer reports it itself, once it knows where reading goes on.
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

    /// Returns whether a line says nothing that the client does not report elsewhere. librdkafka writes one with each of its
    /// questions about a topic that it may not see, ten a second; which topic that is, and why, is told by its state.
    private static func isNoise(_ facility: String, line: String) -> Bool {
        facility == "BROKER" && line.firstRange(of: " is unknown (partition_cnt ") != nil
    }
}
