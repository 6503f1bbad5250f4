internal import Basics

/// Checks whether the admin endpoints can listen on the configured address.
struct PortCheck: DoctorCheck {
    static let name = "port"

    /// How long the program that uses the port may take to identify itself.
    private static let timeout = Duration.seconds(1)

    /// True when the check runs at the start of a worker, which cannot share the port with a running one.
    let isStart: Bool

    func findings(_ examination: inout Examination) async -> [Finding] {
        guard !examination.reading.concerns(["admin.host", "admin.port"]) else {
            return [skipped("admin.host and admin.port were not tested", cure: Examination.brokersFirst)]
        }

        let settings = examination.settings
        let (host, port) = (settings.text("admin.host"), UInt16(clamping: settings.integer("admin.port")))
        var findings = [await finding(host: host, port: port)]
        if !settings.isLocal("admin.host"), settings["admin.token"] == nil, settings["admin.tokenFile"] == nil {
            findings.append(
                warning(
                    "anyone who can reach the admin port can read /metrics and /status",
                    cure: "set admin.token or admin.tokenFile"))
        }
        return findings
    }

    private func finding(host: String, port: UInt16) async -> Finding {
        let problem: (reason: String, owner: NetworkAddress?)? = await onOwnThread {
            do throws(NetworkAddress.Unknown) {
                for address in try NetworkAddress.resolve(host, port: port, isOwn: true) {
                    if let reason = ProbeConnection.listenProblem(at: address) { return (reason, address) }
                }
                return nil
            } catch {
                return (error.reason, nil)
            }
        }
        guard let problem else {
            return ok(port == 0 ? "the system assigns admin.port" : "admin.port: \(host):\(port) is free")
        }

        if !isStart, let owner = problem.owner, await onOwnThread({ Self.isWorker(at: owner) }) {
            return warning(
                "admin.port: a running worker already listens on \(host):\(port)",
                cure: "use another port for a second worker on this machine")
        }
        return failed(
            "admin.port: cannot listen on \(host):\(port) (\(problem.reason))",
            cure: "choose another, or 0 for any free one", code: Failure.configuration)
    }

    /// Returns true if the program at an address is a running worker.
    private static func isWorker(at address: NetworkAddress) -> Bool {
        let deadline = Instant.now + timeout
        guard let connection = try? ProbeConnection(to: address, before: deadline),
            connection.send(Array("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8))
        else { return false }

        var answer: [UInt8] = []
        while answer.count < 4096, let bytes = connection.receive(before: deadline), !bytes.isEmpty { answer += bytes }
        return answer.starts(with: "HTTP/1.1 200".utf8) && answer.suffix(4).elementsEqual("\nok\n".utf8)
    }
}
