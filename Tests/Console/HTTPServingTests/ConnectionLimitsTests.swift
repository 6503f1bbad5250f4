import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import TestSupport
import Testing

@testable import HTTPServing

/// Slow clients of a server, on real connections.
struct ConnectionLimitsTests {
    /// A server that answers `/` at once, `/large` with 64 MB, and `/stream` with a line every 20 ms for as long as it lives.
    private static func start(_ adjust: (inout ConnectionLimits) -> Void) async throws -> HTTPServer {
        var limits = ConnectionLimits()
        limits.idleTimeout = .seconds(3600)
        (limits.requestTimeout, limits.stallTimeout) = (.seconds(3600), .seconds(3600))
        limits.roomForThisMachine = 0
        adjust(&limits)

        let router = Router()
        router.get("/") { _, context in text(context.clientAddress ?? "") }
        router.get("/large") { _, _ in
            Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0x61, count: 64 << 20)))
        }
        router.get("/stream") { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    while !Task.isCancelled {
                        try await writer.write(ByteBuffer(string: "line\n"))
                        try await Task.sleep(for: .milliseconds(20))
                    }
                    try await writer.finish(nil)
                })
        }
        router.post("/") { request, _ in text("\(try await request.body.collect(upTo: 1 << 20).readableBytes)") }
        return try await HTTPServer.start(
            router.responder, host: "127.0.0.1", port: 0, limits: limits,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func text(_ text: String) -> Response {
        Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private static func ask(_ server: HTTPServer) async throws -> String {
        let connection = try LoopbackConnection(port: server.port)
        connection.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        var answer = ""
        try await eventually("an answer") {
            answer += String(decoding: connection.readAvailable(), as: UTF8.self)
            return answer.contains("127.0.0.1")
        }
        return answer
    }

    /// A body would be read as the next response of the connection.
    @Test func `No answer to HEAD has a body, whoever gives it`() async throws {
        let server = try await HTTPServer.start(
            { request, _ in
                if request.uri.path == "/" { return Self.text("a body") }
                if request.uri.path == "/refused" { return Response(status: .forbidden, body: Self.text("no").body) }
                throw UnknownPath()
            }, host: "127.0.0.1", port: 0, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let connection = try LoopbackConnection(port: server.port)
        let heads = ["/", "/refused", "/unknown"].map { "HEAD \($0) HTTP/1.1\r\nhost: a\r\n\r\n" }
        connection.send(heads.joined() + "GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        var answers = ""
        try await eventually("all answers") {
            answers += String(decoding: connection.readAvailable(), as: UTF8.self)
            return answers.hasSuffix("a body")
        }
        let parts = answers.split(separator: "\r\n\r\n")
        #expect(
            parts.map { $0.prefix(12) } == ["HTTP/1.1 200", "HTTP/1.1 403", "HTTP/1.1 404", "HTTP/1.1 200", "a body"])
        await server.stop(within: .seconds(2))
    }

    /// Waits until the server has closed all of the connections.
    private static func waitForEnd(of connections: [LoopbackConnection]) async throws {
        for connection in connections {
            try await eventually("the server closes it") { connection.isClosedByPeer() }
        }
    }

    // MARK: - Timeouts

    @Test func `A connection without a request is closed`() async throws {
        let server = try await Self.start { $0.idleTimeout = .milliseconds(200) }
        let silent = try (0..<20).map { _ in try LoopbackConnection(port: server.port) }
        let answered = try LoopbackConnection(port: server.port)
        answered.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n")

        try await Self.waitForEnd(of: silent + [answered])
        await server.stop(within: .seconds(2))
    }

    @Test func `A connection with half a request is closed, even if it trickles`() async throws {
        let server = try await Self.start { $0.requestTimeout = .milliseconds(200) }
        let connections = try (0..<300).map { _ in try LoopbackConnection(port: server.port) }
        for connection in connections { connection.send("GET / HTTP/1.1\r\nx: ") }
        #expect(try await Self.ask(server).hasPrefix("HTTP/1.1 200"))

        try await eventually("the server closes the one that goes on") {
            connections[0].send("y")
            return connections[0].isClosedByPeer()
        }
        try await Self.waitForEnd(of: connections)
        await server.stop(within: .seconds(2))
    }

    @Test func `A connection whose body does not end is closed`() async throws {
        let server = try await Self.start { $0.requestTimeout = .milliseconds(200) }
        let connections = try (0..<20).map { _ in try LoopbackConnection(port: server.port) }
        for connection in connections {
            connection.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf")
        }

        try await Self.waitForEnd(of: connections)
        await server.stop(within: .seconds(2))
    }

    @Test func `A client that does not read its answer is disconnected`() async throws {
        let server = try await Self.start { $0.stallTimeout = .milliseconds(300) }
        let connections = try (0..<5).map { _ in try LoopbackConnection(port: server.port, receiveBuffer: 4096) }
        for connection in connections { connection.send("GET /large HTTP/1.1\r\nhost: a\r\n\r\n") }

        try await eventually("the server keeps none of them") { server.connectionCount == 0 }
        await server.stop(within: .seconds(2))
        withExtendedLifetime(connections) {}
    }

    @Test func `A stream outlives each timeout`() async throws {
        let server = try await Self.start {
            // Shorter than the stream, and long enough for its request on a busy machine.
            ($0.idleTimeout, $0.requestTimeout) = (.milliseconds(400), .milliseconds(400))
            $0.stallTimeout = .seconds(10)
        }
        let stream = try LoopbackConnection(port: server.port)
        stream.send("GET /stream HTTP/1.1\r\nhost: a\r\n\r\n")
        var received: [UInt8] = []
        try await eventually("fifty lines, which take a second") {
            received += stream.readAvailable()
            return received.count(where: { $0 == UInt8(ascii: "l") }) > 50
        }

        #expect(!stream.isClosedByPeer())
        await server.stop(within: .seconds(2))
    }

    @Test func `A connection in use stays open`() async throws {
        let server = try await Self.start { $0.idleTimeout = .seconds(5) }
        let connection = try LoopbackConnection(port: server.port)
        for number in 1...20 {
            connection.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            try await eventually("answer \(number)") { !connection.readAvailable().isEmpty }
        }

        #expect(!connection.isClosedByPeer())
        await server.stop(within: .seconds(2))
    }

    // MARK: - The bound

    @Test func `Streams keep their connections, with room for this machine`() async throws {
        let server = try await Self.start {
            $0.maxConnections = 3
            $0.roomForThisMachine = 1
        }
        let streams = try (0..<4).map { _ in
            let stream = try LoopbackConnection(port: server.port)
            stream.send("GET /stream HTTP/1.1\r\nhost: a\r\n\r\n")
            return stream
        }
        for stream in streams { try await eventually("a stream begins") { !stream.readAvailable().isEmpty } }

        let fifth = try LoopbackConnection(port: server.port)
        try await Self.waitForEnd(of: [fifth])
        for stream in streams { try await eventually("a stream goes on") { !stream.readAvailable().isEmpty } }
        #expect(server.connectionCount == 4)
        await server.stop(within: .seconds(2))
    }
}
