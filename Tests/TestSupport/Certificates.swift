import Foundation

/// Certificates of two authorities, made by openssl into a temporary folder. Call `remove` in a `defer`.
package struct Certificates: Sendable {
    /// The authorities and the certificates that they have signed.
    package enum Name: String, Sendable, CaseIterable {
        /// The authority that both sides trust.
        case authority
        /// An untrusted authority.
        case stranger
        /// A broker at 127.0.0.1.
        case broker
        /// A broker with another name.
        case elsewhere
        /// A client of the trusted authority.
        case client
        /// A client of the untrusted authority.
        case intruder
    }

    private let folder: URL

    /// True if openssl is installed; `tools/setup tests` installs it.
    package static var canBeMade: Bool { openssl != nil }
    private static let openssl = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    package init() async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

        for name in [Name.authority, .stranger] {
            try await openssl(["req", "-x509", "-days", "2"] + subject(name) + ["-out", file(name)])
        }
        try await sign(.broker, by: .authority, for: "IP:127.0.0.1")
        try await sign(.elsewhere, by: .authority, for: "DNS:kafka.elsewhere")
        try await sign(.client, by: .authority, for: "DNS:client")
        try await sign(.intruder, by: .stranger, for: "DNS:client")
    }

    /// The path of a certificate, in PEM.
    package func file(_ name: Name) -> String { folder.appending(path: "\(name.rawValue).pem").path }

    /// The path of a certificate's key, in PEM.
    package func key(_ name: Name) -> String { folder.appending(path: "\(name.rawValue).key").path }

    package func remove() { try? FileManager.default.removeItem(at: folder) }

    private func sign(_ name: Name, by authority: Name, for alternative: String) async throws {
        let request = folder.appending(path: "\(name.rawValue).csr").path
        let extensions = folder.appending(path: "\(name.rawValue).ext").path
        try "subjectAltName=\(alternative)".write(toFile: extensions, atomically: true, encoding: .utf8)

        try await openssl(["req"] + subject(name) + ["-out", request])
        try await openssl([
            "x509", "-req", "-in", request, "-CA", file(authority), "-CAkey", key(authority), "-CAcreateserial",
            "-days",
            "2", "-extfile", extensions, "-out", file(name),
        ])
    }

    private func subject(_ name: Name) -> [String] {
        [
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(name.rawValue)",
            "-keyout", key(name),
        ]
    }

    private func openssl(_ arguments: [String]) async throws {
        guard let openssl = Self.openssl else { throw CocoaError(.fileNoSuchFile) }
        let program = try RunningProgram(arguments, at: openssl)
        defer { program.end() }
        try await eventually("openssl ends", within: .seconds(30)) { !program.isRunning }
        guard program.code == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
