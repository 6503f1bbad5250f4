import Foundation

/// A proxy with TLS and a login in front of the embedded broker, which supports neither:
/// `Tests/Tools/secure_front.py` as a process. Call `end` in a `defer`.
package struct SecureFront: Sendable {
    private struct Ports: Decodable {
        let port: Int
        let tokenPort: Int?
    }

    /// The accepted logins: a user with a password, and a client of the token endpoint with a secret.
    package static let user = (name: "ann", password: "Zq7frontpassword,=Wx")
    package static let client = (id: "worker", secret: "Zq7frontsecretWx")

    /// True if Python is installed; `tools/setup tests` installs it.
    package static var canBeStarted: Bool { python != nil }
    private static let python = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private let process: RunningProgram
    private let ports: Ports

    /// - Parameter broker: `host:port` of a broker at 127.0.0.1.
    /// - Parameter options: the tool's options; its help explains them.
    package init(_ broker: String, _ options: [String]) async throws {
        guard let python = Self.python else { throw CocoaError(.fileNoSuchFile) }
        let tool = Repository.folder.appending(path: "Tests/Tools/secure_front.py").path
        let secrets =
            [
                "users": [Self.user.name: Self.user.password], "client": [Self.client.id, Self.client.secret],
            ] as [String: Any]
        let json = String(decoding: try JSONSerialization.data(withJSONObject: secrets), as: UTF8.self)
        let port = broker.split(separator: ":").last.map(String.init) ?? ""

        let process = try RunningProgram([tool, port] + options, environment: ["FRONT_SECRETS": json], at: python)
        do {
            try await eventually("the front listens", within: .seconds(20)) { process.firstLine != nil }
            ports = try JSONDecoder().decode(Ports.self, from: Data((process.firstLine ?? "").utf8))
        } catch {
            process.end()
            throw error
        }
        self.process = process
    }

    /// `host:port` for clients.
    package var bootstrapServers: String { "127.0.0.1:\(ports.port)" }

    /// The URL of the token endpoint, with a login.
    package var tokenURL: String { "http://127.0.0.1:\(ports.tokenPort ?? 0)/token" }

    package func end() { process.end() }
}
