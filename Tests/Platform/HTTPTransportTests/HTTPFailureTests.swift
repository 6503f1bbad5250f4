import CCurl
import TestSupport
import Testing

@testable import HTTPTransport

struct HTTPFailureTests {
    @Test func `A call to a closed port fails as connect`() async throws {
        let port = try RawServer.unusedPort()
        #expect(try await withTransport { await $0.failure(ofGetting: "http://127.0.0.1:\(port)") } == .connect)
    }

    @Test func `A call to a name without an address fails as DNS`() async throws {
        // RFC 6761 reserves .invalid for names that never exist.
        #expect(try await withTransport { await $0.failure(ofGetting: "http://name.invalid") } == .dns)
    }

    @Test(arguments: ["HTTP/1.1 400 Bad\r\n\r\n", "", "\u{0}\u{1}\u{2}"])
    func `A call to a server without TLS fails as TLS`(answer: String) async throws {
        let server = try RawServer { connection in
            connection.send(answer)
            // Closing with the client's greeting unread would reset the connection.
            connection.endSending()
            connection.waitForClose()
        }
        let kind = try await withTransport { await $0.failure(ofGetting: "https://127.0.0.1:\(server.port)") }
        #expect(kind == .tls)
    }

    @Test func `A call without the file of authorities fails as TLS`() async throws {
        let server = try RawServer { $0.waitForClose() }
        let kind = try await withTransport {
            $0.caFile = "/nonexistent/ca.pem"
        } _: {
            await $0.failure(ofGetting: "https://127.0.0.1:\(server.port)")
        }
        #expect(kind == .tls)
    }

    @Test(arguments: [403, 407])
    func `A call that the proxy refuses to forward fails as connect`(status: Int) async throws {
        let proxy = try RawServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")
        }
        let kind = try await withTransport {
            $0.httpsProxy = proxy.url
        } _: {
            await $0.failure(ofGetting: "https://name.invalid")
        }
        #expect(kind == .connect)
    }

    /// CURLE_SSL_CLIENTCERT and CURLE_TOO_LARGE.
    @Test(arguments: [(98, .tls), (100, .tooLarge)] as [(UInt32, HTTPError.Kind)])
    func `A code of newer versions of curl has its kind`(code: UInt32, kind: HTTPError.Kind) {
        let error = HTTPError(CURLcode(code), host: "h", progress: .waiting, isPastDeadline: false)
        #expect(error.kind == kind)
    }

    @Test func `The text of every curl code contains only the URL's host`() {
        var kinds: Set<HTTPError.Kind> = []
        for code in 1..<CURL_LAST.rawValue {
            for progress in [HTTPError.Progress.connecting, .waiting, .reading] {
                let host = HTTPRequest(url: "https://u:\(key)@api.example:8443/\(key)?key=\(key)").host
                let error = HTTPError(CURLcode(code), host: host, progress: progress, isPastDeadline: true)
                #expect(error.description.hasPrefix("api.example:8443: "))
                #expect(!error.description.contains(key))
                kinds.insert(error.kind)
            }
        }
        // The transport itself reports these two; no curl code does.
        #expect(kinds == Set(HTTPError.Kind.allCases).subtracting([.cancelled, .staleConnection]))
    }
}
