internal import Basics

/// Checks whether the addresses of `kafka.bootstrapServers` accept connections.
struct ConnectionsCheck: DoctorCheck {
    static let name = "tcp"

    func findings(_ examination: inout Examination) async -> [Finding] {
        let named = examination.doors.filter { !$0.addresses.isEmpty }
        guard !named.isEmpty else { return [skipped("no broker has an address", cure: Examination.brokersFirst)] }

        var problems: [String] = []
        for index in examination.doors.indices where !examination.doors[index].addresses.isEmpty {
            let door = examination.doors[index]
            switch await Self.reach(door.addresses, within: examination.timeout) {
            case .success(let address): examination.doors[index].reached = address
            case .failure(let refused): problems.append("\(door.name) accepts no connection (\(refused.reason))")
            }
        }

        let reached = examination.doors.filter { $0.reached != nil }
        guard !problems.isEmpty else {
            return [ok("\(reached.map(\.name).joined(separator: ", ")) accepts connections")]
        }
        let cure = "start the broker, correct kafka.bootstrapServers, or open the port in the firewalls between"
        return problems.map {
            reached.isEmpty ? failed($0, cure: cure, code: Failure.unreachable) : warning($0, cure: cure)
        }
    }

    /// Connects to the addresses in order until one accepts.
    static func reach(
        _ addresses: [NetworkAddress], within timeout: Duration
    ) async -> Result<NetworkAddress, ProbeConnection.Refused> {
        await onOwnThread {
            let deadline = Instant.now + timeout
            var refused = ProbeConnection.Refused(reason: "no address")
            for address in addresses {
                do throws(ProbeConnection.Refused) {
                    _ = try ProbeConnection(to: address, before: deadline)
                    return .success(address)
                } catch {
                    refused = error
                }
            }
            return .failure(refused)
        }
    }
}
