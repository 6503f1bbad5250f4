/// Checks whether the brokers use the configured protocol: with or without TLS, and with or without the configured
/// login.
struct ProtocolCheck: DoctorCheck {
    static let name = "protocol"

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard examination.doors.contains(where: { $0.reached != nil }) else {
            return [skipped("no broker accepts connections", cure: Examination.brokersFirst)]
        }

        let settings = examination.settings
        let (expected, mechanism) = (settings.securityProtocol, settings.loginMechanism)
        let timeout = min(examination.timeout, .seconds(2))

        var findings: [Finding] = []
        for index in examination.doors.indices {
            let door = examination.doors[index]
            guard let address = door.reached else { continue }
            let spoken = await onOwnThread {
                SpokenProtocol.find(at: address, of: door.host, mechanism: mechanism, within: timeout)
            }
            examination.doors[index].spoken = spoken

            if case .kafka(let requests, _) = spoken { examination.requests = examination.requests ?? requests }
            if let finding = finding(spoken, at: door.name, expected: expected, mechanism: mechanism) {
                findings.append(finding)
                // A login is not attempted if the protocol is wrong.
                examination.doors[index].reached = nil
            }
        }
        guard findings.isEmpty else { return findings }

        let names = examination.doors.filter { $0.reached != nil }.map(\.name).joined(separator: ", ")
        return [ok("\(names) speaks \(expected)" + (mechanism.map { ", with a login by \($0)" } ?? ""))]
    }

    /// - Returns: `nil` if the protocol is the expected one.
    private func finding(
        _ spoken: SpokenProtocol, at name: String, expected: String, mechanism: String?
    ) -> Finding? {
        func wrong(_ text: String, cure: String) -> Finding {
            failed("\(name) \(text), but kafka.security.protocol is \(expected)", cure: cure, code: Failure.unreachable)
        }
        let expectsTLS = expected.hasSuffix("ssl")

        switch spoken {
        case .tls where expectsTLS: return nil
        case .tls:
            return wrong(
                "speaks TLS",
                cure: "set kafka.security.protocol to \(mechanism == nil ? "ssl" : "sasl_ssl"), or use another port")
        case .kafka where expectsTLS:
            return wrong(
                "speaks no TLS",
                cure: "set kafka.security.protocol to \(mechanism == nil ? "plaintext" : "sasl_plaintext"), or use the"
                    + " port with TLS")
        case .kafka(_, let offered?) where mechanism == nil:
            return wrong(
                "requires a login" + (offered.isEmpty ? "" : " (\(offered.joined(separator: ", ")))"),
                cure: "set kafka.security.protocol to sasl_plaintext and kafka.security.sasl.*, or use another port")
        case .kafka(_, nil) where mechanism != nil:
            return wrong(
                "offers no login", cure: "set kafka.security.protocol to plaintext, or use the port with logins")
        case .kafka(_, let offered?):
            guard let mechanism, !offered.isEmpty, !offered.contains(mechanism) else { return nil }
            return failed(
                "\(name) offers \(offered.joined(separator: ", ")), but kafka.security.sasl.mechanism is \(mechanism)",
                cure: "use one of the offered mechanisms", code: Failure.unreachable)
        case .kafka: return nil
        case .http:
            return wrong("is a web server, not a broker", cure: "correct the ports in kafka.bootstrapServers")
        case .other:
            return wrong(
                "responds with neither Kafka's protocol nor TLS",
                cure: "correct the ports in kafka.bootstrapServers")
        case .closing:
            return wrong(
                "closes each connection without a response",
                cure: "correct the ports in kafka.bootstrapServers, or check firewalls and proxies in between"
            )
        case .silent:
            return wrong(
                "accepts connections but does not respond",
                cure: "check the broker, the network and the ports in kafka.bootstrapServers")
        }
    }
}
