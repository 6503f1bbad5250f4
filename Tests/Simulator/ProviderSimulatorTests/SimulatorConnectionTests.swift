import Foundation
import TestSupport
import Testing

@testable import ProviderSimulator

struct SimulatorConnectionTests {
    private static func line(_ path: String, _ version: String = "1.1", _ headers: String = "") -> String {
        "GET \(path) HTTP/\(version)\r\nHost: x\r\n\(headers)\r\n"
    }
    private static let search = "/hotpepper/gourmet/v1/?key=k&format=json&\(Simulator.spot)"

    @Test func `Pipelined requests are answered in their order`() async throws {
        let simulator = try await Simulator()
        let counts = try await blocking { () -> [Int] in
            let client = try RawClient(port: simulator.port)
            // The slow first answer must come first, although more requests follow than the server reads ahead.
            client.send(Self.line("\(Self.search)&count=1&keyword=fault:delay=100"))
            client.send((1..<200).map { Self.line("\(Self.search)&count=\($0 % 10 + 1)") }.joined())
            return (0..<200).map { _ in client.answer().shops.count }
        }
        #expect(counts == [1] + (1..<200).map { $0 % 10 + 1 })
    }

    @Test func `A connection stays open as long as the client demands`() async throws {
        let simulator = try await Simulator()
        let (answers, ends) = try await blocking { () -> ([Answer], [RawClient.Piece]) in
            let old = try RawClient(port: simulator.port)
            old.send(Self.line("\(Self.search)&count=1", "1.0"))
            var answers = [old.answer()]
            let kept = try RawClient(port: simulator.port)
            kept.send(Self.line("\(Self.search)&count=1", "1.0", "Connection: keep-alive\r\n"))
            answers.append(kept.answer())
            kept.send(Self.line("\(Self.search)&count=1", "1.1", "Connection: close\r\n"))
            answers.append(kept.answer())
            return (answers, [old.receive(patience: 30), kept.receive(patience: 30)])
        }
        #expect(answers.map(\.status) == [200, 200, 200])
        #expect(answers.dropFirst().map(\.headers["connection"]) == ["keep-alive", "close"])
        #expect(ends.allSatisfy { if case .end = $0 { true } else { false } })
    }

    /// Only root may set SO_DEBUG, whose number at the socket level is that of TCP_NODELAY at the TCP level.
    @Test func `Connections have only options that every user may set`() async throws {
        let simulator = try await Simulator()
        let options = try await blocking { () -> [[Int32]] in
            let client = try RawClient(port: simulator.port)
            client.send(Self.line("\(Self.search)&count=1"))
            _ = client.answer()
            return AcceptedSockets.descriptors(port: simulator.port).map { descriptor in
                [
                    AcceptedSockets.option(SO_DEBUG, level: SOL_SOCKET, of: descriptor),
                    AcceptedSockets.option(TCP_NODELAY, level: Int32(IPPROTO_TCP), of: descriptor),
                ]
            }
        }
        #expect(options == [[0, 1]])
    }

    @Test func `A body that is too large closes the connection`() async throws {
        let simulator = try await Simulator()
        let body = "{\"textQuery\":\"" + String(repeating: "x", count: 1 << 20) + "\"}"
        let answer = try await simulator.new("searchText", body)
        #expect(answer.status == 0 && [.closedEarly, .reset].contains(answer.ending))
        #expect(try await simulator.gourmet(Simulator.spot).status == 200)
    }

    @Test(arguments: ["HEAD", "DELETE", "POST", "OPTIONS"])
    func `A search by another method than GET is rejected`(method: String) async throws {
        let simulator = try await Simulator()
        let answer = try await simulator.call(method, Self.search, [:], body: nil)
        #expect(answer.status == 405 && answer.ending == .complete)
    }

    /// A connection with random bytes is answered or closed, and the next one is served.
    @Test func `The next client is served after random bytes`() async throws {
        let simulator = try await Simulator()
        try await blocking {
            var numbers = HashStream(99)
            let starts = [
                "GET ", "POST /v1/places:searchText", "\0\0\0", "GET /hotpepper/gourmet/v1/?",
                "GET /maps/api/place/photo?key=k&",
                "GET /v1/places/", "POST /_sim/config HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "",
            ]
            for _ in 0..<300 {
                let client = try RawClient(port: simulator.port)
                let noise = (0..<numbers.next(below: 400)).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
                client.send(Array(numbers.pick(starts).utf8) + noise + Array("\r\n\r\n".utf8))
                _ = client.receive(patience: 0.02)
            }
        }
        #expect(try await simulator.gourmet(Simulator.spot).status == 200)
    }

    /// The requests are well-formed HTTP with values that no client would send.
    @Test func `Every request with unlikely parameters is answered`() async throws {
        let simulator = try await Simulator()
        let fault = try await blocking { () -> String? in
            var numbers = HashStream(7)
            let values = [
                "", "0", "-1", "1e308", "nan", "inf", "99999999999999999999", "%00", "%ff%fe", "%", "%zz", "a,b,c",
                "90,180",
                "-9223372036854775808", "1e-320", "-90,-180", "89.99999,179.99999", "*", "../..", "%F0%9F%8D%9C",
                String(repeating: "A", count: 3000),
                "|", "%2C", "1.5",
            ]
            let names = [
                "lat", "lng", "range", "count", "start", "id", "genre", "keyword", "type", "location", "radius",
                "opennow", "pagetoken", "place_id", "fields", "photo_reference", "maxwidth", "format", "language",
            ]
            let paths = [
                "/hotpepper/gourmet/v1/", "/maps/api/place/nearbysearch/json", "/maps/api/place/details/json",
                "/maps/api/place/photo", "/v1/places/x", "/v1/places/x/photos/y/media",
            ]
            let client = try RawClient(port: simulator.port)
            for _ in 0..<300 {
                let query = (0..<numbers.next(below: 7)).map { _ in "\(numbers.pick(names))=\(numbers.pick(values))"
                }
                client.send(Self.line("\(numbers.pick(paths))?key=k&\(query.joined(separator: "&"))"))
                let answer = client.answer()
                if answer.status < 200 || answer.ending != .complete { return "\(query)" }
            }
            return nil
        }
        #expect(fault == nil)
    }

    @Test func `Every damaged body is answered with 200 or 400`() async throws {
        let simulator = try await Simulator()
        let fault = try await blocking { () -> String? in
            var numbers = HashStream(11)
            let sound = Array(
                ("{\"textQuery\":\"ramen\",\"pageSize\":5,\"openNow\":true,\"languageCode\":\"ja\","
                    + "\"locationRestriction\":\(Simulator.box),\"pageToken\":\"\"}").utf8)
            let client = try RawClient(port: simulator.port)
            for _ in 0..<1000 {
                var body = sound
                for _ in 0...numbers.next(below: 3) {
                    let index = numbers.next(below: body.count)
                    switch numbers.next(below: 3) {
                    case 0: body[index] = UInt8(truncatingIfNeeded: numbers.next())
                    case 1: body.remove(at: index)
                    default:
                        body.insert(
                            contentsOf: sound[index % sound.count..<min(index % sound.count + 20, sound.count)],
                            at: index)
                    }
                }
                client.send(
                    Array(
                        ("POST /v1/places:searchText HTTP/1.1\r\nX-Goog-Api-Key: k\r\nX-Goog-FieldMask: *\r\n"
                            + "Content-Length: \(body.count)\r\n\r\n").utf8) + body)
                let answer = client.answer()
                let isSound = [200, 400].contains(answer.status) && answer.json != nil
                if !isSound || answer.ending != .complete { return String(decoding: body, as: UTF8.self) }
            }
            return nil
        }
        #expect(fault == nil)
    }

    @Test func `A shutdown closes open connections`() async throws {
        let simulator = try await Simulator()
        #expect(simulator.server.baseURL == "http://127.0.0.1:\(simulator.port)")
        let piece = try await withThrowingTaskGroup(of: RawClient.Piece?.self) { group in
            group.addTask {
                try await blocking {
                    let client = try RawClient(port: simulator.port)
                    client.send(Self.line("\(Self.search)&keyword=fault:hang"))
                    return client.receive(patience: 60)
                }
            }
            group.addTask {
                try await eventually("it hangs") { try await simulator.stats(.hotpepper)["inFlight"] as? Int == 1 }
                await simulator.server.shutdown()
                return nil
            }
            return try await group.compactMap { $0 }.first { _ in true }
        }
        guard case .end? = piece else {
            Issue.record("\(String(describing: piece))")
            return
        }
        #expect(throws: POSIXError.self) { try RawClient(port: simulator.port) }
    }
}
