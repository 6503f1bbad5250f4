import Kafka

/// Checks whether the brokers can be reached at their advertised addresses, which clients use after bootstrapping.
struct BrokersCheck: DoctorCheck {
    static let name = "brokers"

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        let cluster = try examination.connected().cluster
        let brokers = cluster.addresses.sorted { $0.key < $1.key }
        let trials = try await BrokerTrial.of(brokers.map(\.value), examination)

        let findings = zip(brokers, trials).compactMap { broker, trial -> Finding? in
            guard case .failure(let failure) = trial.result else { return nil }
            return failed(
                "broker \(broker.key) advertises \(broker.value), but there is \(failure)",
                cure: "correct advertised.listeners of the broker, or make that address reachable from this machine",
                code: failure.code)
        }
        guard findings.isEmpty else { return findings }

        if cluster.brokers.count == 1 {
            return [
                warning(
                    "there is only one broker: if it is lost, all records are lost",
                    cure: "use three, except for trials")
            ]
        }
        return [ok("\(cluster.brokers.count) brokers are reachable at their advertised addresses")]
    }
}
