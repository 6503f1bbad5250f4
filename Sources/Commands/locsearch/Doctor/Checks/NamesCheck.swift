internal import HTTPServing

/// Checks whether the names in `kafka.bootstrapServers` can be resolved on this machine.
struct NamesCheck: DoctorCheck {
    static let name = "dns"

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard examination.consumer != nil else {
            return [skipped(examination.reasonWithoutBrokers ?? "", cure: Examination.brokersFirst)]
        }

        examination.doors = Self.doors(examination.settings.text("kafka.bootstrapServers"))
        var problems: [(name: String, reason: String)] = []
        for index in examination.doors.indices {
            let door = examination.doors[index]
            switch await Self.addresses(of: door.host, port: door.port, within: examination.timeout) {
            case .success(let addresses): examination.doors[index].addresses = addresses
            case .failure(let unknown): problems.append((door.host, unknown.reason))
            }
        }

        let known = examination.doors.filter { !$0.addresses.isEmpty }
        guard !problems.isEmpty else {
            return [ok(known.map { "\($0.host) has \(Self.count($0.addresses.count))" }.joined(separator: ", "))]
        }
        let cure = "correct kafka.bootstrapServers, or add the name to the DNS of this machine or container"
        return problems.map { problem in
            let text = "\(problem.name) does not resolve on this machine (\(problem.reason))"
            return known.isEmpty ? failed(text, cure: cure, code: Failure.unreachable) : warning(text, cure: cure)
        }
    }

    private static func count(_ addresses: Int) -> String { addresses == 1 ? "1 address" : "\(addresses) addresses" }

    static func addresses(
        of host: String, port: UInt16, within timeout: Duration
    ) async -> Result<[NetworkAddress], NetworkAddress.Unknown> {
        let result = await answer(within: timeout) {
            await onOwnThread { () -> Result<[NetworkAddress], NetworkAddress.Unknown> in
                do throws(NetworkAddress.Unknown) {
                    return .success(try NetworkAddress.resolve(host, port: port))
                } catch {
                    return .failure(error)
                }
            }
        }
        return result ?? .failure(NetworkAddress.Unknown(reason: "DNS timed out"))
    }

    /// Parses `host:port,host:port`.
    static func doors(_ text: String) -> [BrokerDoor] {
        Setting.entries(text).compactMap { entry in
            guard let colon = entry.lastIndex(of: ":"), let port = UInt16(entry[entry.index(after: colon)...]) else {
                return nil
            }
            let host = entry[..<colon]
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
            return BrokerDoor(host: String(isBracketed ? host.dropFirst().dropLast() : host), port: port)
        }
    }
}
