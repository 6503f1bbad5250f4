import Basics
import EventContract
import EventLoop
import Foundation
import Kafka
import KafkaTestSupport
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

/// Blocks threads until it is opened.
private final class Gate: Sendable {
    private let isOpen = Atomic<Bool>(false)

    func open() { isOpen.store(true, ordering: .releasing) }
    func wait() { while !isOpen.load(ordering: .acquiring) { Thread.sleep(forTimeInterval: 0.005) } }
}

/// A worker with a real broker and a provider over TCP: each request has exactly one outcome.
@Suite(.serialized)
struct WorkerTests {
    @Test func `Each request has exactly one outcome`() async throws {
        let fixture = try WorkerFixture { _ in .init(body: WorkerFixture.shop) }
        let ids = (0..<500).map { "r\($0)" }
        try await fixture.send(ids.map { ($0, WorkerFixture.request($0)) })
        let records = try await fixture.run(expecting: ids.count)
        #expect(try records.map { try $0.outcome().requestID }.sorted() == ids.sorted())
        for record in records {
            #expect(record.key.map { String(decoding: $0, as: UTF8.self) } == (try record.outcome().requestID))
        }
        // The first worker's requests are committed: a second one has nothing to repeat.
        let calls = fixture.provider.targets.count
        try await fixture.send([("last", WorkerFixture.request("last"))])
        let more = try await fixture.run(expecting: ids.count + 1)
        #expect(more.count == ids.count + 1)
        #expect(fixture.provider.targets.count == calls + 1)
        await fixture.stop()
    }

    /// More than begin at once (`InFlightWindow.least`): a slow provider gets all requests that may be in flight.
    @Test func `A worker keeps as many requests in flight as configured`() async throws {
        let mayAnswer = Gate()
        let fixture = try WorkerFixture { _ in
            mayAnswer.wait()
            return .init(body: WorkerFixture.shop)
        }
        try await fixture.send((0..<200).map { ("r\($0)", WorkerFixture.request("r\($0)", #","keyword":"k\#($0)""#)) })
        let settings = { (configuration: inout WorkerConfiguration) in
            configuration.concurrency = 200
            configuration.timeLimits = RequestTimeLimits(deadline: .seconds(60), maxDeadline: .seconds(60))
        }
        try await fixture.whileWorking(settings) { lane in
            defer { mayAnswer.open() }
            try await eventually("all are in flight") { await lane.status.inFlight == 200 }
            mayAnswer.open()
            _ = try await fixture.outcomes { $0.count >= 200 }
        }
        await fixture.stop()
    }

    @Test func `Provider failures become error events without the key`() async throws {
        let fixture = try WorkerFixture { target in
            if target.contains("keyword=slow") { return .init(body: WorkerFixture.shop, delay: .seconds(5)) }
            return .init(status: 503, body: "")
        }
        let cases = [("slow", "timeout"), ("503", "upstream-unavailable")]
        try await fixture.send(
            cases.map { ($0.0, WorkerFixture.request($0.0, #","keyword":"\#($0.0)","timeoutMs":2000"#)) })
        let records = try await fixture.run(expecting: cases.count)
        for (id, code) in cases {
            let found = try records.map({ try $0.outcome() }).first { $0.requestID == id }
            #expect(found?.code == code, "\(id)")
        }
        for record in records {
            #expect(!String(decoding: record.value ?? [], as: UTF8.self).contains(WorkerFixture.key))
        }
        await fixture.stop()
    }

    @Test func `Outcomes of a key leave in the order of its requests`() async throws {
        // The earlier the request, the slower its answer.
        let fixture = try WorkerFixture { target in
            let wait =
                target.split(separator: "=").last { $0.hasPrefix("w") }?.dropFirst().prefix { $0.isNumber } ?? "0"
            return .init(body: WorkerFixture.shop, delay: .milliseconds(Int(wait) ?? 0))
        }
        let requests = (0..<60).map { index in
            ("key\(index % 3)", WorkerFixture.request("o\(index)", #","keyword":"w\#((60 - index) * 5)""#))
        }
        try await fixture.send(requests)
        let records = try await fixture.run(expecting: requests.count) { $0.ordering = .key }
        for key in ["key0", "key1", "key2"] {
            let ids = try records.filter { $0.key == Array(key.utf8) }.sorted { $0.offset < $1.offset }.map {
                try $0.outcome().requestID
            }
            #expect(ids == requests.indices.filter { requests[$0].0 == key }.map { "o\($0)" })
        }
        await fixture.stop()
    }

    @Test func `A newer request of a session supersedes the one in flight`() async throws {
        let fixture = try WorkerFixture { _ in .init(body: WorkerFixture.shop, delay: .milliseconds(800)) }
        try await fixture.send((0..<5).map { ("same", WorkerFixture.request("s\($0)", #","sessionId":"one""#)) })
        let records = try await fixture.run(expecting: 5)
        let superseded = try records.map { try $0.outcome() }.filter { $0.code == "superseded" }
        #expect(superseded.map(\.requestID).sorted() == ["s0", "s1", "s2", "s3"])
        await fixture.stop()
    }

    /// Task groups end their children by cancellation: it drains the worker too.
    @Test(.enabled(if: TestBroker.isEmbedded, "another broker's end offsets are not exact"))
    func `A cancelled worker drains`() async throws {
        let fixture = try WorkerFixture { _ in .init(body: WorkerFixture.shop, delay: .milliseconds(500)) }
        let loop = try EventLoop()
        let lane = try fixture.lane(on: loop)
        let working = Task { try await lane.run() }
        try await fixture.send([("last", WorkerFixture.request("last"))])
        try await eventually("a request is in flight") { !fixture.provider.targets.isEmpty }
        working.cancel()
        try await working.value
        loop.stop()
        let outcomes = try await fixture.contents(of: fixture.outcomeTopics)
        #expect(outcomes.map(\.keyText) == ["last"])
        await fixture.stop()
    }

    /// A worker that cannot start ends, including its clients, and reports the reason.
    @Test(
        .timeLimit(.minutes(1)), .enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A worker that cannot start ends with the reason`() async throws {
        let fixture = try WorkerFixture()
        let loop = try EventLoop()
        fixture.broker.embedded?.fail(.initProducerID, with: 53, count: 100)  // TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        let lane = try fixture.lane(on: loop) { $0.delivery = .exactlyOnce }
        await #expect(throws: KafkaError.self) { try await lane.run() }
        loop.stop()
        await fixture.stop()
    }

    /// Billed results are kept until they are delivered, by a new producer if the old one has failed.
    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A worker replaces a failed producer without further calls`() async throws {
        let fixture = try WorkerFixture { _ in .init(body: WorkerFixture.shop) }
        let ids = (0..<40).map { "p\($0)" }
        try await fixture.send(
            ids.map { ($0, WorkerFixture.request($0, #","keyword":"\#($0)""#)) } + [("bad", "no JSON")])
        fixture.broker.embedded?.fail(.produce, with: 45, count: 1)  // OUT_OF_ORDER_SEQUENCE_NUMBER: fatal
        let records = try await fixture.run(untilDone: ids)
        // Records whose status the failed producer did not know may be duplicated.
        #expect(Set(try records.map { try $0.outcome().requestID }).isSuperset(of: ids))
        #expect(fixture.provider.targets.count == ids.count)
        await fixture.stop()
    }

    /// Unconfirmed outcomes are in memory twice, so their bytes are limited, not only their number.
    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A worker takes few requests while many bytes are undelivered`() async throws {
        let (count, size) = (250, 50_000)
        let shops = (0..<100).map { number in
            let address = String(repeating: "x", count: size / 100)
            return #"{"id":"J\#(number)","name":"n","lat":35.69,"lng":139.7,"address":"\#(address)"}"#
        }
        let body = #"{"results":{"results_available":100,"shop":[\#(shops.joined(separator: ","))]}}"#
        let fixture = try WorkerFixture { _ in .init(body: body) }
        try await fixture.send((0..<count).map { ("k\($0)", WorkerFixture.request("r\($0)", #","limit":100"#)) })
        // The answers to all concurrent requests of the producer are delayed. They are no failures, because that broker does not
        // check sequence numbers: a rejected batch would count as written once the following one is.
        try fixture.broker.embedded?.fail(.produce, with: [0, 0, 0, 0, 0], broker: 1, delay: .seconds(8))
        let outcomes = try await fixture.whileWorking { lane in
            // Outcomes have `size` bytes or more.
            let most = 3 << 20
            try await eventually("much is undelivered") { await lane.status.unconfirmed >= 40 }
            let start = Instant.now
            try await eventually("nothing more is taken") {
                // 64 more came with the last request that there was room for.
                #expect(await lane.status.unconfirmed <= most / size + 1 + 64)
                return start.duration(to: .now) > .seconds(1)
            }
            return try await fixture.outcomes { $0.count >= count }
        }
        #expect(Set(outcomes.map(\.keyText)).count == count)
        await fixture.stop()
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "only the embedded broker can be told to fail"))
    func `A producer that keeps failing ends the worker`() async throws {
        let fixture = try WorkerFixture { _ in .init(body: WorkerFixture.shop) }
        try await fixture.send([("k", WorkerFixture.request("r"))])
        fixture.broker.embedded?.fail(.produce, with: 45, count: 20)
        let loop = try EventLoop()
        defer { loop.stop() }
        let lane = try fixture.lane(on: loop)
        let error = await #expect(throws: KafkaError.self) { try await lane.run() }
        #expect(error?.kind == .fatal)
        #expect(fixture.provider.targets.count == 1)
        await fixture.stop()
    }
}
