import Basics
import HTTPTransport
import TestSupport
import Testing

struct DeadlineTests {
    /// The point at which a server stalls.
    enum Stall: CaseIterable, Sendable {
        case beforeTheAnswer, withinTheHeaders, withinTheBody, drippingHeaders, drippingBody
    }

    @Test(arguments: Stall.allCases)
    func `A call ends at its deadline wherever the server stalls`(stall: Stall) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            switch stall {
            case .beforeTheAnswer: break
            case .withinTheHeaders: connection.send("HTTP/1.1 200 OK\r\nContent-")
            case .withinTheBody: connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            case .drippingHeaders:
                connection.send("HTTP/1.1 200 OK\r\n")
                while connection.send("X: y\r\n") { connection.pause(milliseconds: 10) }
            case .drippingBody:
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while connection.send("x") { connection.pause(milliseconds: 10) }
            }
            connection.waitForClose()
        }
        try await withTransport { transport in
            let start = Instant.now
            #expect(await transport.failure(ofGetting: server.url, within: .milliseconds(150)) == .timeout)
            let time = Instant.now - start
            // curl counts in whole milliseconds and may be early by one.
            #expect(time >= .milliseconds(149))
            try await eventually("the connection to be closed") { server.openCount == 0 }
        }
    }

    @Test func `The transport sends nothing when the deadline has passed`() async throws {
        let server = try RawServer { $0.answerAll() }
        try await withTransport { transport in
            #expect(await transport.failure(ofGetting: server.url, within: .zero) == .timeout)
            #expect(await transport.failure(ofGetting: server.url, within: .seconds(-5)) == .timeout)
        }
        #expect(server.connectionCount == 0)
    }

    /// The server never finishes the handshake. If the connect timeout comes first, there is time for another attempt.
    @Test(arguments: [(100, 20_000, HTTPError.Kind.connect), (20_000, 100, .timeout)])
    func `An unfinished handshake fails at the first time limit`(connect: Int, deadline: Int, kind: HTTPError.Kind)
        async throws
    {
        let server = try RawServer { $0.waitForClose() }
        try await withTransport {
            $0.connectTimeout = .milliseconds(connect)
        } _: { transport in
            let url = "https://127.0.0.1:\(server.port)"
            #expect(await transport.failure(ofGetting: url, within: .milliseconds(deadline)) == kind)
        }
    }

    @Test func `Forty calls each end at their own deadline`() async throws {
        let server = try RawServer { $0.waitForClose() }
        try await withTransport { transport in
            await withTaskGroup(of: (Duration, Duration, HTTPError.Kind?).self) { group in
                // The latest deadline comes first, so that curl has to move its timer forward.
                for number in (1...40).reversed() {
                    group.addTask {
                        let (limit, start) = (Duration.milliseconds(20 * number), Instant.now)
                        let kind = await transport.failure(ofGetting: server.url, within: limit)
                        return (limit, Instant.now - start, kind)
                    }
                }
                for await (limit, time, kind) in group {
                    #expect(kind == .timeout)
                    #expect(time >= limit)
                }
            }
        }
    }
}
