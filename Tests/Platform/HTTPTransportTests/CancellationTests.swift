import Basics
import HTTPTransport
import TestSupport
import Testing

struct CancellationTests {
    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"])
    func `A cancelled task closes its connection`(sent: String) async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            connection.send(sent)
            connection.waitForClose()
        }
        try await withTransport { transport in
            let call = Task { await transport.failure(ofGetting: server.url) }
            try await eventually("the request to have arrived") { server.requests.count == 1 }
            call.cancel()
            #expect(await call.value == .cancelled)
            try await eventually("the connection to be closed") { server.openCount == 0 }
            #expect(await transport.callsInFlight == 0)
        }
    }

    @Test func `A task that is cancelled before its call sends nothing`() async throws {
        let server = try RawServer { $0.answerAll() }
        try await withTransport { transport in
            let call = Task {
                while !Task.isCancelled { await Task.yield() }
                return await transport.failure(ofGetting: server.url)
            }
            call.cancel()
            #expect(await call.value == .cancelled)
        }
        #expect(server.connectionCount == 0)
    }

    @Test func `Other calls are answered when some are cancelled`() async throws {
        let isFree = Counter()
        let server = try RawServer { connection in
            while connection.readRequest() != nil {
                while isFree.value == 0 { connection.pause(milliseconds: 1) }
                connection.answer("right")
            }
        }
        try await withTransport { transport in
            let calls = (0..<20).map { _ in Task { try await transport.get(server.url).text } }
            try await eventually("all to have arrived") { server.requests.count == 20 }
            for (number, call) in calls.enumerated() where number % 2 == 0 { call.cancel() }
            for (number, call) in calls.enumerated() where number % 2 == 0 {
                await #expect(throws: HTTPError.self) { try await call.value }
            }
            isFree.add(1)
            for (number, call) in calls.enumerated() where number % 2 == 1 {
                let text = try await call.value
                #expect(text == "right")
            }
        }
    }

    /// Cancels calls before, while and after their answers arrive, and shuts down during the last of them. Each call must end once,
    /// with its own answer or as cancelled; resuming it twice would crash.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Every call ends once when answers, cancellations and a shutdown race`(seed: UInt64) async throws {
        let server = try RawServer { connection in
            var random = SplitMix64(state: seed &+ UInt64(connection.number))
            while let request = connection.readRequest() {
                if Bool.random(using: &random) { connection.pause(milliseconds: 1) }
                connection.answer(String(decoding: request.prefix { $0 != 13 }, as: UTF8.self))
            }
        }
        try await withTransport { transport in
            var random = SplitMix64(state: seed)
            var (answered, cancelled) = (0, 0)
            for round in 0..<60 {
                let isLast = round == 59
                let calls = (0..<20).map { number in
                    // A busy machine answers late, so some of the rounds leave more time for it.
                    let delay = Int.random(in: 0...(round % 4 == 0 ? 20_000 : 2500), using: &random)
                    return Task {
                        let call = Task { () async -> (Bool, HTTPError.Kind?) in
                            do throws(HTTPError) {
                                let request = HTTPRequest(url: "\(server.url)/\(round)-\(number)")
                                let response = try await transport.send(request, before: .now + .seconds(20))
                                return (response.text == "GET /\(round)-\(number) HTTP/1.1", nil)
                            } catch { return (true, error.kind) }
                        }
                        try? await Task.sleep(for: .microseconds(delay))
                        call.cancel()
                        return await call.value
                    }
                }
                if isLast { await transport.shutdown() }
                for call in calls {
                    let (isRight, kind) = await call.value
                    #expect(isRight)
                    #expect(kind == nil || kind == .cancelled)
                    if kind == nil { answered += 1 } else { cancelled += 1 }
                }
                if !isLast {
                    #expect(await transport.callsInFlight == 0)
                    let response = try await transport.get(server.url)
                    #expect(response.status == 200)
                }
            }

            // The test is meaningful only if both ends occurred.
            #expect(answered > 0 && cancelled > 0)
            #expect(await transport.callsInFlight == 0)
        }
    }
}
