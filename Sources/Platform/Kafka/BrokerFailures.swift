internal import Synchronization

/// The last reason why each broker could not be reached, as librdkafka logged it. Safe to use from any thread.
final class BrokerFailures: Sendable {
    /// The maximum number of brokers listed.
    private static let maxBrokers = 8

    private struct Failures {
        /// The addresses in the order of their first failure.
        var addresses: [String] = []
        var reasons: [String: String] = [:]
        /// Why the last login token could not be fetched. Without a token, the client connects to no broker.
        var token: String?
    }
    private let failures = Mutex(Failures())

    /// Records a log line about one broker, such as
    /// `sasl_ssl://kafka:9092/bootstrap: Connect to ipv4#10.0.0.7:9092 failed: Connection refused (after 2ms in state CONNECT)`.
    /// Ignores lines of any other form.
    func note(line: String) {
        guard let (address, reason, end) = Self.parse(line) else { return }

        failures.withLock { failures in
            if failures.reasons[address] == nil {
                guard failures.addresses.count < Self.maxBrokers else { return }
                failures.addresses.append(address)
            }
            failures.reasons[address] = BrokerFailureAdvice.explained(reason, at: end)
        }
    }

    /// Records that the OpenID provider returned no token. Omits the provider's answer, because it may contain
    /// anything.
    func noteToken(line: String) {
        let reason = line.firstRange(of: "]: ").map { line[$0.upperBound...] } ?? line[...]
        let brief = reason.prefix { $0 != "{" && $0 != "<" }
        failures.withLock { $0.token = "no OAuth token received: check kafka.security.oidc.*; \(brief)" }
    }

    /// Clears all failures, because a broker answered.
    func clear() { failures.withLock { $0 = Failures() } }

    /// Each broker with its failure reason, as `host:port (reason), host:port (reason)`; `nil` if none has failed.
    var summary: String? {
        failures.withLock { failures in
            guard !failures.addresses.isEmpty else { return failures.token }
            return failures.addresses.map { "\($0) (\(failures.reasons[$0] ?? "no reason"))" }.joined(separator: ", ")
        }
    }

    /// Adds to an error the reasons why the brokers could not be reached, if that is its cause.
    func explain(_ error: KafkaError) -> KafkaError {
        // A broker that accepts connections, and whose first answer is not overdue yet, has no failure.
        let reason = summary ?? (error.areAllBrokersDown ? BrokerFailureAdvice.silent : nil)
        guard [.unreachable, .timedOut].contains(error.kind), let reason else { return error }
        return KafkaError(error.kind, code: error.code, "\(error.description): \(reason)")
    }

    /// Parses a log line into the broker's `host:port`, the failure reason, and the state in which the connection
    /// ended, if the line has it.
    static func parse(_ line: String) -> (address: String, reason: String, end: ConnectionEnd?)? {
        var rest = Substring(line)
        if rest.hasPrefix("[thrd:"), let end = rest.firstRange(of: "]: ") { rest = rest[end.upperBound...] }

        guard let colon = rest.firstRange(of: ": ") else { return nil }
        var name = rest[..<colon.lowerBound]
        var reason = rest[colon.upperBound...]

        // The name is [protocol://]host:port/id, where the id is a number or "bootstrap".
        if let scheme = name.firstRange(of: "://") { name = name[scheme.upperBound...] }
        guard let slash = name.lastIndex(of: "/") else { return nil }
        name = name[..<slash]
        guard let port = name.lastIndex(of: ":"), Int(name[name.index(after: port)...]) != nil else { return nil }

        // The rest of the line gives the duration of the attempt, the state in which it ended, or the number of
        // attempts.
        var end: ConnectionEnd?
        if let details = reason.firstRange(of: " (after ") {
            end = ConnectionEnd(reason[details.upperBound...])
            reason = reason[..<details.lowerBound]
        }
        if reason.hasPrefix("Connect to "), let failed = reason.firstRange(of: " failed: ") {
            reason = reason[failed.upperBound...]
        }
        return (String(name), String(reason), end)
    }
}
