import Kafka

/// Checks whether a worker could connect to a broker with the configured TLS, certificate and login.
struct LoginCheck: DoctorCheck {
    static let name = "login"

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard let consumer = examination.consumer, examination.doors.contains(where: { $0.reached != nil }) else {
            return [skipped("no broker uses the expected protocol", cure: Examination.brokersFirst)]
        }

        let requests = BrokerRequestLog()
        defer { examination.requests = requests.requests ?? examination.requests }
        do throws(KafkaError) {
            let admin = try TopicAdmin(consumer, log: examination.log, noting: requests)
            let cluster = try await admin.cluster(within: examination.timeout)
            (examination.admin, examination.cluster) = (admin, cluster)
        } catch {
            let isSetting = error.kind == .configuration
            return [
                failed(
                    error.description, cure: "see docs/access.md for each reason and what to check",
                    code: isSetting ? Failure.configuration : Failure.unreachable)
            ]
        }

        let settings = examination.settings
        let user = settings["kafka.security.sasl.username"].map { " as \($0)" } ?? ""
        let login = settings.loginMechanism.map { "logged in\(user) by \($0)" } ?? "connected without a login"
        let trust = settings.securityProtocol.hasSuffix("ssl") ? ", and the broker's certificate is trusted" : ""
        return [ok(login + trust)]
    }
}
