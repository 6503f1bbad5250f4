import EventContract
import Kafka
import KafkaTestSupport
import LocationSearch
import ProviderCalls
import Resilience
import Synchronization
import TestSupport
import Testing

/// For any body of a provider, the request ends as an error of the contract, and the worker goes on.
@Suite(
    .serialized,
    .enabled(if: TestBroker.isEmbedded, "another broker's end offsets are not exact, so nothing can be read to its end")
)
struct BadAnswerTests {
    /// An answer's body and its head.
    struct Bad: Sendable {
        let name: String
        var head = "HTTP/1.1 200 OK\r\n"
        let body: [UInt8]
        /// The announced length, if it exceeds the length of the body.
        var announced: Int?
        /// The error codes by provider where they differ, as for Hot Pepper's maintenance pages.
        var codes: [ProviderID: String] = [:]

        init(_ name: String, _ body: [UInt8], announced: Int? = nil, codes: [ProviderID: String] = [:]) {
            (self.name, self.body, self.announced, self.codes) = (name, body, announced, codes)
        }

        init(_ name: String, _ text: String, announced: Int? = nil, codes: [ProviderID: String] = [:]) {
            self.init(name, Array(text.utf8), announced: announced, codes: codes)
        }

        func code(of provider: ProviderID) -> String { codes[provider] ?? "bad-response" }

        var bytes: [UInt8] { Array((head + "Content-Length: \(announced ?? body.count)\r\n\r\n").utf8) + body }
    }

    private static let page = "<!DOCTYPE html><html><body>We are busy</body></html>"

    private static let all: [Bad] = [
        Bad("empty", ""), Bad("blank", " \n"), Bad("text", "no JSON"), Bad("null", "null"), Bad("number", "7"),
        Bad("array", "[]"), Bad("string", "\"text\""), Bad("two", "{}{}"),
        Bad("page", page, codes: [.hotpepper: "upstream-unavailable"]),
        Bad("cut", #"{"results":{"results_available":1,"shop":[{"id":"J1"#),
        Bad("cut-new", #"{"places":[{"id":"P1","displayName":{"text":"A"#),
        Bad("broken-off", WorkerFixture.shop, announced: 100_000),
        Bad("random", (0..<2000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 >> 3) }),
        Bad("zeros", [UInt8](repeating: 0, count: 1000)),
        Bad("deep", String(repeating: "[", count: 100_000)),
        Bad("deep-results", #"{"results":"# + String(repeating: "[", count: 100_000)),
        Bad("deep-places", #"{"places":"# + String(repeating: #"{"a":"#, count: 100_000)),
        Bad("no-utf8", Array(#"{"results":{"shop":[{"id":""#.utf8) + [0xC3, 0x28, 0xFF]),
        Bad("numbers", #"{"results":7,"places":7,"status":7}"#),
        Bad(
            "wrong-types",
            #"{"results":{"shop":[7,"x",[]],"results_available":{}},"places":[7,"x",[]],"status":"OK"}"#),
        Bad("gzip", "no gzip"),
    ]

    private static func request(_ name: String, _ provider: ProviderID, _ more: String = "") -> String {
        """
        {"provider":"\(provider.rawValue)","location":{"latitude":35.69,"longitude":139.7},
        "keyword":"case-\(name)-end","timeoutMs":20000\(more)}
        """
    }

    /// One call for each request, however many fail.
    private static var policy: ProviderPolicy {
        var policy = ProviderPolicy(concurrency: 256)
        policy.retry.maxAttempts = 1
        policy.breaker.isEnabled = false
        return policy
    }

    /// Returns the name between `case-` and `-end` in a URL or a body.
    private static func name(in request: [UInt8]) -> String {
        let text = String(decoding: request, as: UTF8.self)
        guard let start = text.firstRange(of: "case-"), let end = text.firstRange(of: "-end") else { return "" }
        return String(text[start.upperBound..<end.lowerBound])
    }

    @Test func `A bad answer becomes an error and the worker goes on`() async throws {
        let provider = try RawServer { connection in
            guard let request = connection.readRequest() else { return }
            guard let bad = Self.all.first(where: { $0.name == Self.name(in: request) }) else {
                connection.answer(WorkerFixture.shop, headers: "Connection: close\r\n")
                return
            }
            var bytes = bad.bytes
            if bad.name == "gzip" {
                bytes = Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n".utf8) + bytes.dropFirst(17)
            }
            connection.send(bytes)
        }
        defer { provider.stop() }
        let fixture = try WorkerFixture()
        let expected = Self.all.flatMap { bad in
            ProviderID.allCases.map { (key: "\($0.rawValue) \(bad.name)", provider: $0, bad: bad) }
        }
        try await fixture.send(expected.map { ($0.key, Self.request($0.bad.name, $0.provider)) })
        try await fixture.send([("good", Self.request("good", .hotpepper))])
        try await fixture.whileWorking(at: provider.url, policy: Self.policy) { lane in
            try await fixture.allIsCommitted(by: lane)
        }
        let outcomes = try await fixture.contents(of: fixture.outcomeTopics)
        #expect(outcomes.map(\.keyText).sorted() == (expected.map(\.key) + ["good"]).sorted())
        for (key, provider, bad) in expected {
            let record = try #require(outcomes.first { $0.keyText == key })
            let failure = try #require(try record.outcome().failure, "\(key)")
            #expect(failure.code == bad.code(of: provider), "\(key): \(failure.message)")
            #expect(failure.isRetryable, "\(key)")
            // No part of the body may be in the event.
            #expect(record.value.map { $0.count < 1000 } == true, "\(key)")
        }
        #expect(try outcomes.first { $0.keyText == "good" }?.outcome().places != nil, "it came behind them")
        await fixture.stop()
    }

    /// The limit ends the answer early: the rest is not received and takes no memory.
    @Test func `The worker stops receiving an answer of 100 MB`() async throws {
        let counts = Counts()
        let provider = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.send("10\r\n{\"results\":{\"x\":\r\n")
            let piece = Array("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 65_536) + Array("\r\n".utf8)
            var sent = 0
            while sent < 100_000_000, connection.send(piece) { sent += piece.count }
            counts.add(sent)
        }
        defer { provider.stop() }
        let fixture = try WorkerFixture()
        let keys = ProviderID.allCases.map(\.rawValue)
        try await fixture.send(ProviderID.allCases.map { ($0.rawValue, Self.request("flood", $0)) })
        let outcomes = try await fixture.whileWorking(at: provider.url, policy: Self.policy) { _ in
            try await fixture.records(of: fixture.outcomeTopics) { $0.count == keys.count }
        }
        #expect(outcomes.map(\.keyText).sorted() == keys.sorted())
        for record in outcomes {
            #expect(try record.outcome().code == "bad-response", "\(record.keyText)")
        }
        try await eventually("the provider is stopped") { counts.all.count == keys.count }
        // The limit of 2 MB, and the contents of the sockets' buffers.
        #expect(counts.all.allSatisfy { $0 < 20_000_000 }, "\(counts.all)")
        await fixture.stop()
    }

    private final class Counts: Sendable {
        private let counts = Mutex<[Int]>([])
        var all: [Int] { counts.withLock { $0 } }
        func add(_ count: Int) { counts.withLock { $0.append(count) } }
    }
}
