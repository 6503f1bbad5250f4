internal import Basics
import EventLoop
import HTTPTransport

/// Checks whether the admin endpoints can listen on the configured address.
struct PortCheck: DoctorCheck {
    static let name = "port"

    /// How long the program that uses the port may take to identify itself.
    private static let timeout = Duration.seconds(1)

    /// True when the check runs at the start of a worker, which cannot share the port with a running one.
    let isStart: Bool

    func findings(_ examination: inout Examination) async throws(SkippedCheck) -> [Finding] {
        try examination.requireValid(["admin.host", "admin.port"], "admin.host and admin.port")
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
                let addresses = try NetworkAddress.resolve(host, port: port, isOwn: true)
                // The server uses another address of the name if this machine lacks one.
                let present = addresses.filter { !$0.isMissing }
                for address in present.isEmpty ? addresses : present {
                    if let reason = address.listenProblem { return (reason, address) }
                }
                return nil
            } catch {
                return (error.reason, nil)
            }
        }
        guard let problem else {
            return ok(port == 0 ? "the system assigns admin.port" : "admin.port: \(host):\(port) is free")
        }

        if !isStart, let owner = problem.owner, await Self.isWorker(at: owner) {
            return warning(
                "admin.port: a running worker already listens on \(host):\(port)",
                cure: "use another port for a second worker on this machine")
        }
        return failed(
            "admin.port: cannot listen on \(host):\(port) (\(problem.reason))",
            cure: "choose another, or 0 for any free one", code: Failure.configuration)
    }

    /// Returns true if the program at an address is a running worker.
    private static func isWorker(at address: NetworkAddress) async -> Bool {
        guard let loop = try? EventLoop() else { return false }
        let http = HTTPTransport(loop: loop, configuration: HTTPConfiguration())
        let answer = try? await http.send(HTTPRequest(url: "http://\(address.text)/livez"), before: .now + timeout)
        await http.shutdown()
        loop.stop()
        return answer?.status == 200 && answer?.body.elementsEqual("ok\n".utf8) == true
    }
}
