import Kafka

/// Checks whether a worker could connect to the brokers of `kafka.bootstrapServers`, with the configured TLS and login.
struct ConnectionCheck: DoctorCheck {
    static let name = "connection"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let addresses = Setting.entries(examination.settings.text("kafka.bootstrapServers"))
        var (reached, failures): ([String], [Failure]) = ([], [])
        for trial in try await BrokerTrial.of(addresses, examination) {
            switch trial.result {
            case .success(let connection):
                reached.append(trial.address)
                examination.connection = examination.connection ?? connection
            case .failure(let failure): failures.append(failure)
            }
        }

        guard reached.isEmpty else { return connected(to: reached, without: failures, examination.settings) }
        // All addresses usually fail for one cause, so they share a line for each advice.
        var cures: [(cure: String, failures: [Failure])] = []
        for failure in failures {
            let cure = Self.cure(for: failure.description)
            if let index = cures.firstIndex(where: { $0.cure == cure && $0.failures[0].code == failure.code }) {
                cures[index].failures.append(failure)
            } else {
                cures.append((cure, [failure]))
            }
        }
        return cures.map { cure, failures in
            failed(failures.map(\.description).joined(separator: "; "), cure: cure, code: failures[0].code)
        }
    }

    private func connected(to reached: [String], without failures: [Failure], _ settings: Settings) -> [Finding] {
        guard failures.isEmpty else {
            return failures.map { warning($0.description, cure: Self.cure(for: $0.description)) }
        }
        let user = settings["kafka.security.sasl.username"].map { " as \($0)" } ?? ""
        let login = settings.loginMechanism.map { "logged in\(user) by \($0)" } ?? "connected without a login"
        let trust = settings.securityProtocol.hasSuffix("ssl") ? ", and the broker's certificate is trusted" : ""
        return [ok("\(reached.joined(separator: ", ")): \(login)\(trust)")]
    }

    /// The reasons of TLS and logins contain what to check.
    private static func cure(for reason: String) -> String {
        if reason.contains("Failed to resolve") {
            return "correct kafka.bootstrapServers, or add the name to the DNS of this machine or container"
        }
        if reason.contains("no answer") || reason.contains("nothing answers") {
            return
                "restart the broker if it is frozen, correct kafka.bootstrapServers, or open the port in the firewalls between"
        }
        if reason.contains("Connection refused") {
            return "start the broker, correct kafka.bootstrapServers, or open the port in the firewalls between"
        }
        return "see docs/access.md for each reason and what to check"
    }
}

/// The attempt of a client to connect to one broker, with the TLS and the login of the settings.
struct BrokerTrial: Sendable {
    let address: String
    /// The connection, or why there is none.
    let result: Result<Examination.Connection, Failure>

    /// Tries all addresses at the same time.
    /// - Returns: the trials, in the order of the addresses.
    static func of(_ addresses: [String], _ examination: Examination) async throws(SkippedCheck) -> [BrokerTrial] {
        let consumer = try examination.consumer()
        return await withTaskGroup(of: (Int, BrokerTrial).self) { group in
            for (index, address) in addresses.enumerated() {
                group.addTask { (index, await BrokerTrial(address, consumer, examination)) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private init(_ address: String, _ consumer: ConsumerConfiguration, _ examination: Examination) async {
        self.address = address
        var configuration = consumer.reconnectingSoon
        configuration.bootstrapServers = address
        let admin: TopicAdmin
        do throws(KafkaError) {
            admin = try TopicAdmin(configuration, log: examination.log)
        } catch {
            result = .failure(Failure(error.description, code: Failure.configuration))
            return
        }

        let end = Instant.now + examination.timeout
        repeat {
            // A call waits for its whole time even if each attempt of the client fails at once.
            if let cluster = try? await admin.cluster(within: min(examination.timeout, .seconds(1))) {
                result = .success(Examination.Connection(admin: admin, cluster: cluster))
                return
            }
        } while admin.unreachable == nil && Instant.now < end
        let reason = admin.unreachable ?? "\(address) (no answer within \(examination.timeout.readable))"
        result = .failure(Failure("no connection: \(reason)", code: Failure.unreachable))
    }
}
