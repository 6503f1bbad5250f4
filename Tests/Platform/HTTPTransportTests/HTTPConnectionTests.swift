import Basics
import EventLoop
import Foundation
import HTTPTransport
import TestSupport
import Testing

struct HTTPConnectionTests {
    @Test func `Consecutive calls share one connection`() async throws {
        let server = try RawServer { $0.answerAll() }
        try await withTransport { transport in
            for _ in 0..<20 { _ = try await transport.get(server.url) }
            #expect(await transport.callsInFlight == 0)
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `Three hundred calls are in flight at the same time`() async throws {
        let arrived = Counter()
        let server = try RawServer { connection in
            while let request = connection.readRequest() {
                arrived.add(1)
                // The server answers none before all have arrived.
                while arrived.value < 300 { connection.pause(milliseconds: 1) }
                connection.answer(String(decoding: request.prefix { $0 != 13 }, as: UTF8.self))
            }
        }
        try await withTransport { transport in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        let text = try await transport.get("\(server.url)/\(number)").text
                        return text == "GET /\(number) HTTP/1.1"
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }

            // The connections stay open, so later calls open no new one.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 { group.addTask { _ = try await transport.get(server.url) } }
                try await group.waitForAll()
            }
        }
        #expect(server.connectionCount == 300)
    }

    @Test(arguments: [HTTPRequest.Method.get, .post([1, 2, 3])])
    func `The transport opens another connection when the idle one is closed`(method: HTTPRequest.Method) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.answer()
        }
        try await withTransport { transport in
            for _ in 0..<3 {
                _ = try await transport.send(HTTPRequest(method: method, url: server.url), before: .now + .seconds(20))
                try await eventually("the server to have closed") { server.openCount == 0 }
            }
        }
        #expect(server.connectionCount == 3)
    }

    @Test(arguments: [HTTPRequest.Method.get, .post([1, 2, 3])])
    func `A request on an idle connection that closes is not sent twice`(method: HTTPRequest.Method) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.answer()

            // The connection reads a second request and ends without an answer to it.
            _ = connection.readRequest()
        }
        try await withTransport { transport in
            let request = HTTPRequest(method: method, url: server.url)
            for _ in 0..<3 {
                let response = try await transport.send(request, before: .now + .seconds(20))
                #expect(response.status == 200)
                #expect(await transport.failure(of: request) == .staleConnection)
            }
        }
        #expect(server.requests.count == 6)
    }

    @Test func `A call after a stale connection opens a new one although others are idle`() async throws {
        let arrived = Counter()
        let server = try RawServer { connection in
            _ = connection.readRequest()
            arrived.add(1)
            while arrived.value < 8 { connection.pause(milliseconds: 1) }
            connection.answer()
            _ = connection.readRequest()
        }
        try await withTransport { transport in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { _ = try await transport.get(server.url) } }
                try await group.waitForAll()
            }
            #expect(await transport.failure(ofGetting: server.url) == .staleConnection)
            let response = try await transport.get(server.url)
            #expect(response.status == 200)
            #expect(await transport.failure(ofGetting: server.url) == .staleConnection)
        }
        #expect(server.requests.count == 11)
    }

    @Test func `The transport sends the whole URL to a proxy`() async throws {
        let server = try RawServer { $0.answerAll("via proxy") }
        let response = try await withTransport {
            $0.proxy = server.url
        } _: {
            try await $0.get("http://name.invalid/x?y=z")
        }
        #expect(response.text == "via proxy")
        let request = try #require(server.requests.first)
        #expect(request.starts(with: "GET http://name.invalid/x?y=z HTTP/1.1\r\n".utf8))
    }

    @Test func `A shutdown cancels the calls in flight`() async throws {
        let arrived = Counter()
        let server = try RawServer { connection in
            _ = connection.readRequest()
            arrived.add(1)
            connection.waitForClose()
        }
        try await withTransport { transport in
            async let first = transport.failure(ofGetting: server.url)
            async let second = transport.failure(ofGetting: server.url)
            try await eventually("both to have arrived") { arrived.value == 2 }
            await transport.shutdown()
            #expect(await [first, second] == [.cancelled, .cancelled])
            try await eventually("the connections to be closed") { server.openCount == 0 }
            #expect(await transport.failure(ofGetting: server.url) == .cancelled)
            #expect(await transport.callsInFlight == 0)
            await transport.shutdown()
        }
        #expect(server.connectionCount == 2)
    }

    /// libcurl closes a look-up's sockets without notifying the loop, and their numbers are reused, here for pipes.
    @Test func `The loop reports new descriptors after name look-ups`() async throws {
        let server = try RawServer { $0.answerAll() }
        try await withTransport { transport in
            _ = try await transport.get("http://localhost:\(server.port)")
            let reader = PipeReader(loop: transport.loop)
            try await reader.watch(count: 40)
            try await eventually("every pipe to be reported") { await reader.reported.count == 40 }
            await reader.closeAll()
        }
    }

    @Test func `A transport that was shut down is released`() async throws {
        let server = try RawServer { $0.answerAll() }
        weak var released: HTTPTransport?
        try await withTransport { transport in
            released = transport
            _ = try await transport.get(server.url)
            _ = await transport.failure(ofGetting: "http://127.0.0.1:\(try RawServer.unusedPort())")
        }
        try await eventually("nothing to hold it") { released == nil }
    }
}

/// Watches pipes that hold a byte each, and records which ones the loop reports.
private actor PipeReader: ReadinessHandler {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    private(set) var reported: Set<Int32> = []
    private var ends: [Int32] = []

    init(loop: EventLoop) { self.loop = loop }

    func watch(count: Int) throws {
        for _ in 0..<count {
            var pair: [Int32] = [0, 0]
            try #require(unsafe pipe(&pair) == 0)
            ends += pair
            _ = unsafe write(pair[1], "x", 1)
            loop.watch(pair[0], for: .read, handler: self)
        }
    }

    func closeAll() {
        for end in ends {
            loop.unwatch(end)
            close(end)
        }
        ends = []
    }

    nonisolated func ready(_ fileDescriptor: Int32, readiness: Readiness) {
        assumeIsolated { reader in
            reader.reported.insert(fileDescriptor)
            reader.loop.unwatch(fileDescriptor)
        }
    }
}
