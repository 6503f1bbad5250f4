import Basics
import Foundation
import HTTPTransport
import TestSupport
import Testing

/// Calls nginx, which has a certificate made for the test. Skipped if nginx or openssl is not installed.
@Suite(.enabled(if: TLSServer.isAvailable, "nginx and openssl are needed"))
struct TLSTests {
    @Test func `Calls to a trusted server share one HTTP2 connection`() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        try await withTransport {
            $0.caFile = server.authority
        } _: { transport in
            let response = try await transport.get("\(server.url)/version")
            #expect(response == HTTPResponse(status: 200, body: Array("HTTP/2.0".utf8), contentType: "text/plain"))
            let connection = try await transport.get("\(server.url)/connection").text

            // The existing connection is shared by all calls.
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { try await transport.get("\(server.url)/version").text } }
                for try await text in group { #expect(text == "HTTP/2.0") }
            }
            let post = HTTPRequest(method: .post([1, 2, 3]), url: "\(server.url)/version")
            let answer = try await transport.send(post, before: .now + .seconds(20))
            #expect(answer.status == 200)
            #expect(try await transport.get("\(server.url)/connection").text == connection)
        }
    }

    @Test func `The transport refuses a certificate of an unknown authority`() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        #expect(try await withTransport { await $0.failure(ofGetting: server.url) } == .tls)
    }

    @Test func `The transport refuses a certificate for another name`() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        let kind = try await withTransport {
            $0.caFile = server.authority
        } _: {
            await $0.failure(ofGetting: server.url.replacing("127.0.0.1", with: "localhost"))
        }
        #expect(kind == .tls)
    }

    @Test func `An HTTP2 connection stays open when a call is cancelled or times out`() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        try await withTransport {
            $0.caFile = server.authority
        } _: { transport in
            let connection = try await transport.get("\(server.url)/connection").text
            let slow = Task { await transport.failure(ofGetting: "\(server.url)/slow") }
            try await eventually("the slow call to be under way") { await transport.callsInFlight == 1 }
            slow.cancel()
            #expect(await slow.value == .cancelled)
            let kind = await transport.failure(ofGetting: "\(server.url)/slow", within: .milliseconds(100))
            #expect(kind == .timeout)
            #expect(try await transport.get("\(server.url)/connection").text == connection)
        }
    }
}

/// An nginx process with TLS and HTTP/2 on a free port of 127.0.0.1. Its files are in a temporary folder.
private final class TLSServer: Sendable {
    static let isAvailable = nginx != nil && Certificates.canBeMade
    private static let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    let url: String
    private let certificates: Certificates
    private let folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UUID().uuidString)")
    private let process: RunningProgram
    /// The server behind `/slow`, which never answers.
    private let silence: RawServer

    init() async throws {
        let port = try RawServer.unusedPort()
        url = "https://127.0.0.1:\(port)"
        silence = try RawServer { $0.waitForClose() }
        certificates = try await Certificates()
        let (folder, file) = (folder.path, self.folder.appending(path: "nginx.conf"))
        let configuration = """
            daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/error.log;
            events { worker_connections 1024; }
            http {
              access_log off;
              client_body_temp_path \(folder)/b; proxy_temp_path \(folder)/p; fastcgi_temp_path \(folder)/f;
              uwsgi_temp_path \(folder)/u; scgi_temp_path \(folder)/s;
              server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate \(certificates.file(.broker)); ssl_certificate_key \(certificates.key(.broker));
                location = /version { default_type text/plain; return 200 $server_protocol; }
                location = /connection { return 200 $connection; }
                location /slow { proxy_pass \(silence.url); }
              }
            }
            """
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        process = try RunningProgram(
            ["-p", folder, "-e", "\(folder)/error.log", "-c", file.path], at: Self.nginx)
        try await eventually("nginx to listen") {
            // nginx answers 400 to plain HTTP on a TLS port.
            (try? await withTransport { try await $0.get("http://127.0.0.1:\(port)") })?.status == 400
        }
    }

    /// The certificate of the authority that has signed the server's.
    var authority: String { certificates.file(.authority) }

    func stop() {
        process.end()
        certificates.remove()
        try? FileManager.default.removeItem(at: folder)
    }
}
