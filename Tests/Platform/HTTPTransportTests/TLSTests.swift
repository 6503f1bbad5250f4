import Basics
import HTTPTransport
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Calls nginx, which has a certificate made for the test. Skipped if nginx or openssl is not installed.
@Suite(.enabled(if: TLSServer.isAvailable, "nginx and openssl are needed"))
struct TLSTests {
    @Test func `Calls to a trusted server share one HTTP2 connection`() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        try await withTransport {
            $0.caFile = server.certificate
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

    @Test func `Transport refuses a certificate of an unknown authority`() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        #expect(try await withTransport { await $0.failure(ofGetting: server.url) } == .tls)
    }

    @Test func `Transport refuses a certificate for another name`() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        let kind = try await withTransport {
            $0.caFile = server.certificate
        } _: {
            await $0.failure(ofGetting: server.url.replacing("127.0.0.1", with: "localhost"))
        }
        #expect(kind == .tls)
    }

    @Test func `Http2 connection stays open when one call is cancelled or times out`() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        try await withTransport {
            $0.caFile = server.certificate
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
    static let isAvailable = run(["nginx", "-v"]) == 0 && run(["openssl", "version"]) == 0

    let url: String
    let certificate: String
    private let folder: String
    private let process: pid_t
    /// The server behind `/slow`, which never answers.
    private let silence: RawServer

    init() async throws {
        let port = try RawServer.unusedPort()
        silence = try RawServer { $0.waitForClose() }
        var template = Array("/tmp/locsearch-tls-XXXXXX".utf8CString)
        folder = try #require(unsafe mkdtemp(&template).map { unsafe String(cString: $0) })
        (url, certificate) = ("https://127.0.0.1:\(port)", "\(folder)/cert.pem")
        let made = Self.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2",
            "-subj", "/CN=locsearch test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "\(folder)/key.pem",
            "-out", certificate,
        ])
        try #require(made == 0, "openssl makes a certificate")
        let configuration = """
            daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/error.log;
            events { worker_connections 1024; }
            http {
              access_log off;
              client_body_temp_path \(folder)/b; proxy_temp_path \(folder)/p; fastcgi_temp_path \(folder)/f;
              uwsgi_temp_path \(folder)/u; scgi_temp_path \(folder)/s;
              server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate \(certificate); ssl_certificate_key \(folder)/key.pem;
                location = /version { default_type text/plain; return 200 $server_protocol; }
                location = /connection { return 200 $connection; }
                location /slow { proxy_pass \(silence.url); }
              }
            }
            """
        try Self.write(configuration, to: "\(folder)/nginx.conf")
        process = try #require(
            Self.start(["nginx", "-p", folder, "-e", "\(folder)/error.log", "-c", "\(folder)/nginx.conf"]))
        try await eventually("nginx to listen") {
            // nginx answers 400 to plain HTTP on a TLS port.
            (try? await withTransport { try await $0.get("http://127.0.0.1:\(port)") })?.status == 400
        }
    }

    func stop() {
        kill(process, SIGKILL)
        _ = waitpid(process, nil, 0)
        _ = Self.run(["rm", "-rf", folder])
    }

    private static func write(_ text: String, to path: String) throws {
        let file = unsafe fopen(path, "w")
        try #require(unsafe file != nil)
        _ = unsafe fputs(text, file)
        _ = unsafe fclose(file)
    }

    /// Runs a command to its end and returns its exit status; -1 if there is no such program.
    private static func run(_ command: [String]) -> Int32 {
        guard let process = start(command) else { return -1 }
        var status: Int32 = 0
        _ = unsafe waitpid(process, &status, 0)
        return status
    }

    private static func start(_ command: [String]) -> pid_t? {
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        #if canImport(Glibc)
            var files = unsafe posix_spawn_file_actions_t()
        #else
            var files: posix_spawn_file_actions_t?
        #endif
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        for descriptor: Int32 in 0...2 {
            unsafe posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0)
        }
        var process: pid_t = 0
        // nginx is in /usr/sbin, which is not in a user's PATH.
        for folder in ["/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"] {
            if unsafe posix_spawn(&process, "\(folder)/\(command[0])", &files, nil, &arguments, environ) == 0 {
                return process
            }
        }
        return nil
    }
}
