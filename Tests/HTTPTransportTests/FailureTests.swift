import CCurl
import TestSupport
import Testing

@testable import HTTPTransport

struct FailureTests {
    @Test func nobodyListens() async throws {
        let port = try RawServer.unusedPort()
        #expect(try await withTransport { await $0.failure(ofGetting: "http://127.0.0.1:\(port)") } == .connect)
    }

    @Test func aNameWithoutAnAddress() async throws {
        // RFC 6761 keeps .invalid free.
        #expect(try await withTransport { await $0.failure(ofGetting: "http://name.invalid") } == .dns)
    }

    @Test(arguments: ["HTTP/1.1 400 Bad\r\n\r\n", "", "\u{0}\u{1}\u{2}"])
    func tlsAgainstAPlainPort(answer: String) async throws {
        let server = try RawServer { connection in
            connection.send(answer)
            // Closed with the greeting unread, the connection would be reset.
            connection.endSending()
            connection.waitForClose()
        }
        let kind = try await withTransport { await $0.failure(ofGetting: "https://127.0.0.1:\(server.port)") }
        #expect(kind == .tls)
    }

    @Test func aListOfAuthoritiesThatIsNotThere() async throws {
        let server = try RawServer { $0.waitForClose() }
        let kind = try await withTransport {
            $0.caFile = "/nonexistent/ca.pem"
        } _: {
            await $0.failure(ofGetting: "https://127.0.0.1:\(server.port)")
        }
        #expect(kind == .tls)
    }

    @Test func everyCodeOfCurlsHasATextWithoutTheURL() {
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
        // Cancelling is ours.
        #expect(kinds == Set(HTTPError.Kind.allCases).subtracting([.cancelled]))
    }
}
