import Kafka

/// Checks whether the brokers can be reached at their advertised addresses, which clients use after bootstrapping.
struct BrokersCheck: DoctorCheck {
    static let name = "brokers"

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard let cluster = examination.cluster else {
            return [skipped(examination.reasonWithoutBrokers ?? "", cure: Examination.brokersFirst)]
        }

        var findings: [Finding] = []
        for (id, address) in cluster.addresses.sorted(by: { $0.key < $1.key }) {
            guard let problem = await Self.problem(of: address, within: examination.timeout) else { continue }
            findings.append(
                failed(
                    "broker \(id) names itself \(address), which \(problem)",
                    cure: "correct advertised.listeners of the broker, or have this machine reach that address",
                    code: Failure.unreachable))
        }
        guard findings.isEmpty else { return findings }

        if cluster.brokers.count == 1 {
            return [
                warning(
                    "there is one broker: when it is lost, so are all records", cure: "use three, other than for trials"
                )
            ]
        }
        return [ok("\(cluster.brokers.count) brokers are reached by the addresses that they give themselves")]
    }

    private static func problem(of address: String, within timeout: Duration) async -> String? {
        guard let door = NamesCheck.doors(address).first else { return "is no address" }
        switch await NamesCheck.addresses(of: door.host, port: door.port, within: timeout) {
        case .failure(let unknown): return "has no address here (\(unknown.reason))"
        case .success(let addresses):
            guard case .failure(let refused) = await ConnectionsCheck.reach(addresses, within: timeout) else {
                return nil
            }
            return "accepts no connection (\(refused.reason))"
        }
    }
}
