import Basics
import EventLoop
import HTTPTransport
import Synchronization
import TestSupport
import Testing

struct AnswerTests {
    /// The bytes that a server sends, and the error kind of the call; `nil` for a success.
    struct Sent: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        var kind: HTTPError.Kind?
        init(_ name: String, _ text: String, _ kind: HTTPError.Kind? = nil) {
            self.init(name, Array(text.utf8), kind)
        }
        init(_ name: String, _ bytes: [UInt8], _ kind: HTTPError.Kind? = nil) {
            (testDescription, self.bytes, self.kind) = (name, bytes, kind)
        }

        func server() throws -> RawServer {
            try RawServer { connection in
                _ = connection.readRequest()
                connection.send(bytes)
            }
        }
    }

    private static func encoded(_ encoding: String, _ body: [UInt8]) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    @Test(arguments: [
        Sent("length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        Sent(
            "chunked",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nLocation: t\r\n\r\n"),
        Sent("until closed", "HTTP/1.1 200 OK\r\n\r\nhello"),
        Sent(
            "interim answers",
            "HTTP/1.1 103 Early\r\nLocation: e\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        Sent("gzip", encoded("gzip", Gzip.stored(Array("hello".utf8)))),
        Sent("gzip without a label", encoded("identity", Gzip.stored(Array("hello".utf8)))),
        Sent("a coding that does not exist", encoded("UTF-8", Array("hello".utf8))),
        Sent("a coding that was not applied", encoded("gzip", Array("hello".utf8))),
        Sent("several codings that were not applied", encoded("zip, br", Array("hello".utf8))),
    ])
    func `The transport reads a body in every framing and encoding`(sent: Sent) async throws {
        let server = try sent.server()
        let response = try await withTransport { try await $0.get(server.url) }
        #expect(response.status == 200)
        #expect(response.text == "hello")
    }

    @Test(arguments: [
        Sent("no byte", "", .reset),
        Sent("less than a status line", "HTTP/1.1 2", .reset),
        Sent("cut headers", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Len", .truncated),
        Sent("cut body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", .truncated),
        Sent("cut chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", .truncated),
        Sent("no trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n", .truncated),
        Sent("no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", .truncated),
        Sent(
            "bad chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
            .truncated),
        Sent(
            "damaged gzip", encoded("gzip", Array(Gzip.stored(Array("hello".utf8)).prefix(14)) + [1, 2, 3, 0, 0, 0]),
            .truncated),
        Sent(
            "gzip of another size", encoded("gzip", Gzip.stored(Array("hello".utf8)).dropLast(4) + [4, 0, 0, 0]),
            .truncated),
        Sent("garbage", [0, 255, 1, 128, 10, 13, 10, 13, 10], .protocolViolation),
        Sent("another protocol", "SSH-2.0-OpenSSH_9.2\r\n", .protocolViolation),
        Sent("no such version", "HTTP/7.3 200 OK\r\n\r\n", .protocolViolation),
        Sent("negative length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", .truncated),
        Sent("absurd length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello", .tooLarge),
    ])
    func `A broken answer fails with the kind of its fault`(sent: Sent) async throws {
        let server = try sent.server()
        let kind = try await withTransport { await $0.failure(ofGetting: server.url) }
        #expect(kind == sent.kind)
    }

    @Test(arguments: [("", HTTPError.Kind.reset), ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", .truncated)])
    func `A reset within an answer is a truncation`(text: String, kind: HTTPError.Kind) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.send(text)
            // The pause lets the client read first, because a reset discards data that it has not read.
            connection.pause(milliseconds: 100)
            connection.resetOnClose()
        }
        #expect(try await withTransport { await $0.failure(ofGetting: server.url) } == kind)
    }

    @Test(arguments: [true, false])
    func `The transport accepts a body of the limit and refuses one byte more`(isAnnounced: Bool) async throws {
        let server = try RawServer { connection in
            while let request = connection.readRequest() {
                let body = String(repeating: "A", count: request.starts(with: "GET /fits".utf8) ? 1000 : 1001)
                if isAnnounced {
                    connection.answer(body)
                } else {
                    let size = String(body.count, radix: 16)
                    connection.send(
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n\(body)\r\n0\r\n\r\n")
                }
            }
        }
        try await withTransport {
            $0.maxResponseBytes = 1000
        } _: { transport in
            let response = try await transport.get("\(server.url)/fits")
            #expect(response.body.count == 1000)
            #expect(await transport.failure(ofGetting: "\(server.url)/larger") == .tooLarge)
        }
    }

    /// The way in which a server sends 100 MB.
    enum Flood: CaseIterable, Sendable { case announced, chunked, untilClosed, gzip, headers }

    @Test(arguments: Flood.allCases)
    func `The transport stops reading a flood at the limit`(flood: Flood) async throws {
        let (sent, isOver) = (Counter(), Counter())
        let server = try RawServer { connection in
            _ = connection.readRequest()
            let piece = [UInt8](repeating: 65, count: 65_536)
            var (start, pieces) = ("HTTP/1.1 200 OK\r\n", [[UInt8]](repeating: piece, count: 1600))
            switch flood {
            case .announced: start += "Content-Length: 104857600\r\n\r\n"
            case .chunked:
                start += "Transfer-Encoding: chunked\r\n\r\n"
                pieces = pieces.map { Array("10000\r\n".utf8) + $0 + Array("\r\n".utf8) }
            case .untilClosed: start += "\r\n"
            case .gzip:
                start += "Content-Encoding: gzip\r\n\r\n"
                pieces = [Gzip.bomb(matches: 400_000)]
            case .headers:
                pieces = pieces.map { Array("X: ".utf8) + $0.prefix(60_000) + Array("\r\n".utf8) }
            }
            connection.send(start)
            for piece in pieces where connection.send(piece) { sent.add(piece.count) }
            isOver.add(1)
        }
        try await withTransport { transport in
            #expect(await transport.failure(ofGetting: server.url) == .tooLarge)
            // The client has closed the connection, so the server can send no more.
            try await eventually("the server to be stopped") { isOver.value == 1 }
        }
        // The limit, and the capacity of the sockets' buffers.
        #expect(sent.value < 20_000_000)
    }

    @Test func `The transport keeps the headers that providers need`() async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.send(
                "HTTP/1.1 503 Busy\r\nretry-AFTER:  120 \r\nLocation: /a?key=x\r\nContent-Type: text/html\r\n"
                    + "Content-Type: second\r\nRetry: no\r\nLocations: no\r\nContent-Length: 4\r\n\r\nbusy")
        }
        let response = try await withTransport { try await $0.get(server.url) }
        let readAt = try #require(response.readAt)
        #expect((-60_000...60_000).contains(readAt.milliseconds - WallTime.now().milliseconds))
        #expect(
            response
                == HTTPResponse(
                    status: 503, body: Array("busy".utf8), location: "/a?key=x", retryAfter: "120",
                    readAt: readAt, contentType: "text/html"))
    }

    @Test(arguments: [
        "HTTP/1.1 103 Early\r\nRetry-After: 7\r\nContent-Type: text/css\r\n\r\nHTTP/1.1 200 OK\r\nLocation: /a\r\n",
        "HTTP/1.1 200 OK\r\n-X: 1\r\n*Y: 2\r\nLocation: /a\r\n",
    ])
    func `The transport keeps all headers of the last head and no others`(head: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.send(head + "Content-Length: 2\r\n\r\nok")
        }
        let response = try await withTransport { try await $0.get(server.url) }
        #expect(response == HTTPResponse(status: 200, body: Array("ok".utf8), location: "/a"))
    }

    @Test(arguments: [true, false])
    func `The end of a call is reported once, on the loop`(beginsOnLoop: Bool) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.answer("hello")
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        }
        try await withTransport { transport in
            let (request, deadline) = (HTTPRequest(url: server.url), Instant.now + .seconds(20))
            let begin = { @Sendable (end: @escaping HTTPCompletion) in
                let call = transport.begin(request, before: deadline, then: end)
                #expect(call != nil, "the call is in flight")
            }
            for isAnswered in [true, false] {
                typealias End = (result: Result<HTTPResponse, HTTPError>, isOnLoop: Bool)
                let (result, isOnLoop) = await withCheckedContinuation { (task: CheckedContinuation<End, Never>) in
                    let end = { @Sendable (result: Result<HTTPResponse, HTTPError>) in
                        task.resume(returning: (result, transport.loop.isCurrent))
                    }
                    if beginsOnLoop {
                        Task(executorPreference: transport.loop) { begin(end) }
                    } else {
                        begin(end)
                    }
                }
                #expect(isOnLoop)
                #expect((try? result.get().text) == (isAnswered ? "hello" : nil))
            }
        }
    }

    @Test func `A call that cannot begin ends at once`() async throws {
        try await withTransport { transport in
            await Task(executorPreference: transport.loop) {
                let failure = Mutex<HTTPError.Kind?>(nil)
                let call = transport.begin(HTTPRequest(url: "http://127.0.0.1:9/"), before: .now - .seconds(1)) { end in
                    if case .failure(let error) = end { failure.withLock { $0 = error.kind } }
                }
                #expect(call == nil)
                #expect(failure.withLock { $0 } == .timeout)
            }.value
        }
    }

    /// The end of each call begins the next one: the stack must not grow with the number of calls.
    @Test func `A thousand calls begin one another`() async throws {
        let count = 1_000
        let server = try RawServer { connection in
            for _ in 0..<count {
                _ = connection.readRequest()
                connection.answer("hello")
            }
        }
        try await withTransport { transport in
            let answered = await withCheckedContinuation { (task: CheckedContinuation<Int, Never>) in
                @Sendable func call(_ number: Int) {
                    _ = transport.begin(HTTPRequest(url: server.url), before: .now + .seconds(60)) { end in
                        guard case .success = end, number < count else { return task.resume(returning: number) }
                        call(number + 1)
                    }
                }
                call(1)
            }
            #expect(answered == count)
        }
    }

    @Test func `The headers of an answer do not occur in the next`() async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.answer(headers: "Retry-After: 1\r\nLocation: /x\r\nContent-Type: text/plain\r\n")
            _ = connection.readRequest()
            connection.answer("")
        }
        try await withTransport { transport in
            _ = try await transport.get(server.url)
            let response = try await transport.get(server.url)
            #expect(response == HTTPResponse(status: 200))
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `The transport reads a redirect and does not follow it`(status: Int) async throws {
        let server = try RawServer { connection in
            while connection.readRequest() != nil {
                connection.send("HTTP/1.1 \(status) Go\r\nLocation: /photo.jpg\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let response = try await withTransport { try await $0.get(server.url) }
        #expect(response.status == status)
        #expect(response.location == "/photo.jpg")
        #expect(server.requests.count == 1)
    }
}
