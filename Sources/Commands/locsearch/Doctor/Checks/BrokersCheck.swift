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
                    "broker \(id) advertises \(address), which \(problem)",
                    cure:
                        "correct advertised.listeners of the broker, or make that address reachable from this machine",
                    code: Failure.unreachable))
        }
        guard findings.isEmpty else { return findings }

        if cluster.brokers.count == 1 {
            return [
                warning(
                    "there is only one broker: if it is lost, all records are lost",
                    cure: "use three, except for trials"
                )
            ]
        }
        return [ok("\(cluster.brokers.count) brokers are reachable at their advertised addresses")]
    }

    private static func problem(of address: String, within timeout: Duration) async -> String? {
        guard let door = NamesCheck.doors(address).first else { return "is not an address" }
        switch await NamesCheck.addresses(of: door.host, port: door.port, within: timeout) {
        case .failure(let unknown): return "does not resolve on this machine (\(unknown.reason))"
        case .success(let addresses):
            guard case .failure(let refused) = await ConnectionsCheck.reach(addresses, within: timeout) else {
                return nil
            }
            return "accepts no connection (\(refused.reason))"
        }
    }
}
