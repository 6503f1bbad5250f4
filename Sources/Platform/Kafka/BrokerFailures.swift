internal import Synchronization

/// Why brokers could not be reached: of each broker what librdkafka said last. Safe to use from any thread.
final class BrokerFailures: Sendable {
    /// More brokers than this are not listed.
    private static let maxBrokers = 8

    private struct Failures {
        /// The addresses in the order in which they failed first.
        var addresses: [String] = []
        var reasons: [String: String] = [:]
        /// Why the last token for logging in could not be had. Without one no broker is connected to.
        var token: String?
    }
    private let failures = Mutex(Failures())

    /// Notes a line about one broker, such as
    /// `sasl_ssl://kafka:9092/bootstrap: Connect to ipv4#10.0.0.7:9092 failed: Connection refused (after 2ms in state CONNECT)`.
    /// Lines of another form are left out.
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

    /// Notes that no token could be had from the OpenID provider. Its answer is left out, because anything may stand in it.
    func noteToken(line: String) {
        let reason = line.firstRange(of: "]: ").map { line[$0.upperBound...] } ?? line[...]
        let brief = reason.prefix { $0 != "{" && $0 != "<" }
        failures.withLock { $0.token = "no token could be had: check kafka.security.oidc.*; \(brief)" }
    }

    /// Forgets everything, because a broker answered.
    func clear() { failures.withLock { $0 = Failures() } }

    /// Each broker with the reason, as `host:port (reason), host:port (reason)`; `nil` when none has failed.
    var summary: String? {
        failures.withLock { failures in
            guard !failures.addresses.isEmpty else { return failures.token }
            return failures.addresses.map { "\($0) (\(failures.reasons[$0] ?? "no reason"))" }.joined(separator: ", ")
        }
    }

    /// Adds why the brokers could not be reached, where that is the error.
    func explain(_ error: KafkaError) -> KafkaError {
        guard [.unreachable, .timedOut].contains(error.kind), let summary else { return error }
        return KafkaError(error.kind, code: error.code, "\(error.description): \(summary)")
    }

    /// Takes a line apart into the broker's `host:port`, why it could not be reached, and how far the connection had come,
    /// where the line tells.
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

        // What follows says how long the attempt took, in which state it ended, or how often it was made.
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
