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

        guard failures.isEmpty else {
            return failures.map { failure in
                let (text, cure) = (failure.description, Self.cure(for: failure.description))
                return reached.isEmpty ? failed(text, cure: cure, code: failure.code) : warning(text, cure: cure)
            }
        }
        let settings = examination.settings
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
        if reason.contains("Connection refused") || reason.contains("no answer") {
            return "start the broker, correct kafka.bootstrapServers, or open the port in the firewalls between"
        }
        return "see docs/access.md for each reason and what to check"
    }
}
