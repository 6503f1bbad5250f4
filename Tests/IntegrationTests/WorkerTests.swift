import EventContract
import EventLoop
import Kafka
import TestSupport
import Testing
import WorkerRuntime

/// A worker on a real broker and a real provider: what goes in comes out, once each.
@Suite(.serialized)
struct WorkerTests {
    private static func request(_ id: String, _ more: String = "") -> String {
        #"{"requestId":"\#(id)","provider":"hotpepper","location":{"latitude":35.69,"longitude":139.7}\#(more)}"#
    }

    /// Runs one worker until as many outcomes are there as expected, then drains it.
    private func run(
        _ bench: WorkerBench, expecting count: Int, _ change: (inout WorkerConfiguration) -> Void = { _ in }
    ) async throws -> [ConsumerRecord] {
        try await bench.whileWorking(change) { _ in
            try await bench.records(of: WorkerBench.outcomeTopics) { $0.count >= count }
        }
    }

    @Test func eachRequestHasExactlyOneOutcome() async throws {
        let bench = try WorkerBench { _ in .init(body: WorkerBench.shop) }
        let ids = (0..<500).map { "r\($0)" }
        try await bench.send(ids.map { ($0, Self.request($0)) })
        let records = try await run(bench, expecting: ids.count)
        #expect(try records.map { try $0.outcome().requestID }.sorted() == ids.sorted())
        for record in records {
            #expect(record.keyText == (try record.outcome().requestID))
        }
        // What the first worker finished is committed: a second one has nothing to do.
        let calls = bench.provider.targets.count
        try await bench.send([("last", Self.request("last"))])
        let more = try await run(bench, expecting: ids.count + 1)
        #expect(more.count == ids.count + 1)
        #expect(bench.provider.targets.count == calls + 1)
        await bench.stop()
    }

    @Test func whatIsNoRequestEndsAsErrorAndDeadLetter() async throws {
        let bench = try WorkerBench { _ in .init(body: WorkerBench.shop) }
        let hostile = [
            "", "no JSON", "{}", Self.request("x", #","radiusMeters":-1"#), String(repeating: "[", count: 50_000),
        ]
        try await bench.send(
            hostile.enumerated().map { ("h\($0.offset)", $0.element) } + [("good", Self.request("good"))])
        let records = try await run(bench, expecting: hostile.count + 1)
        for record in records {
            let outcome = try record.outcome()
            guard case .failed(let failure) = outcome.body else {
                #expect(outcome.requestID == "good")
                continue
            }
            #expect(failure.code == "invalid-request")
            #expect(failure.member != nil)
        }
        let letters = try await bench.records(of: [WorkerConfiguration.Topics().deadLetters]) {
            $0.count >= hostile.count
        }
        #expect(Set(letters.map { String(decoding: $0.value ?? [], as: UTF8.self) }) == Set(hostile))
        await bench.stop()
    }

    @Test func failuresOfTheProviderBecomeErrorsWithoutTheKey() async throws {
        let bench = try WorkerBench { target in
            if target.contains("keyword=slow") { return .init(body: WorkerBench.shop, delay: .seconds(2)) }
            if target.contains("keyword=html") { return .init(body: "<html>maintenance</html>") }
            if target.contains("keyword=cut") { return .init(body: #"{"results":{"shop":[{"id":"J1"#) }
            return .init(status: 503, body: "")
        }
        let cases = [
            ("slow", "timeout"), ("html", "upstream-unavailable"), ("cut", "bad-response"),
            ("503", "upstream-unavailable"),
        ]
        try await bench.send(cases.map { ($0.0, Self.request($0.0, #","keyword":"\#($0.0)","timeoutMs":700"#)) })
        let records = try await run(bench, expecting: cases.count)
        for (id, code) in cases {
            let found = try records.map({ try $0.outcome() }).first { $0.requestID == id }
            guard case .failed(let failure)? = found?.body else {
                Issue.record("no error for \(id)")
                continue
            }
            #expect(failure.code == code, "\(id)")
        }
        for record in records {
            #expect(!String(decoding: record.value ?? [], as: UTF8.self).contains(WorkerBench.key))
        }
        await bench.stop()
    }

    @Test func outcomesOfAKeyLeaveInTheOrderOfItsRequests() async throws {
        // The earlier the request, the slower its answer.
        let bench = try WorkerBench { target in
            let wait =
                target.split(separator: "=").last { $0.hasPrefix("w") }?.dropFirst().prefix { $0.isNumber } ?? "0"
            return .init(body: WorkerBench.shop, delay: .milliseconds(Int(wait) ?? 0))
        }
        let requests = (0..<60).map { index in
            ("key\(index % 3)", Self.request("o\(index)", #","keyword":"w\#((60 - index) * 5)""#))
        }
        try await bench.send(requests)
        let records = try await run(bench, expecting: requests.count) { $0.ordering = .key }
        for key in ["key0", "key1", "key2"] {
            let ids = try records.filter { $0.key == Array(key.utf8) }.sorted { $0.offset < $1.offset }.map {
                try $0.outcome().requestID
            }
            #expect(ids == requests.indices.filter { requests[$0].0 == key }.map { "o\($0)" })
        }
        await bench.stop()
    }

    @Test func aNewerRequestOfASessionSupersedesTheOneInFlight() async throws {
        let bench = try WorkerBench { _ in .init(body: WorkerBench.shop, delay: .milliseconds(800)) }
        try await bench.send((0..<5).map { ("same", Self.request("s\($0)", #","sessionId":"one""#)) })
        let records = try await run(bench, expecting: 5)
        var superseded: [String] = []
        for event in try records.map({ try $0.outcome() }) {
            if case .failed(let failure) = event.body, failure.code == "superseded" {
                superseded.append(event.requestID)
            }
        }
        #expect(superseded.sorted() == ["s0", "s1", "s2", "s3"])
        await bench.stop()
    }

    /// The embedded broker takes a transaction's offsets and forgets them, so what the next worker finds is shown on a
    /// broker that keeps them (ops/experiments/run exactly-once).
    @Test func inTransactionsEachRequestHasExactlyOneOutcome() async throws {
        let bench = try WorkerBench { target in
            // Some finish long after those behind them.
            .init(body: WorkerBench.shop, delay: .milliseconds(target.utf8.count % 7 == 0 ? 120 : 1))
        }
        let ids = (0..<300).map { "t\($0)" }
        try await bench.send(ids.map { ($0, Self.request($0, #","keyword":"\#($0)""#)) } + [("bad", "no JSON")])
        let records = try await run(bench, expecting: ids.count + 1) { $0.delivery = .exactlyOnce }
        let found = try records.map { try $0.outcome().requestID }
        #expect(found.count == ids.count + 1)
        #expect(Set(found).isSuperset(of: ids))
        #expect(bench.provider.targets.count == ids.count)
        // Outcomes leave in the order of their requests: only unbroken runs are released.
        for (partition, events) in Dictionary(grouping: records, by: \.partition.id)
        where partition.topic.hasSuffix("results") {
            let sources = try events.sorted { $0.offset < $1.offset }.map { try #require(try $0.outcome().source) }
            for (_, run) in Dictionary(grouping: sources, by: \.partition) {
                #expect(run.map(\.offset) == run.map(\.offset).sorted())
            }
        }
        await bench.stop()
    }

    /// A transaction that cannot be committed is aborted; its outcomes go into the next one without asking again.
    @Test func anAbortedTransactionIsDoneAgainWithoutAskingAgain() async throws {
        let bench = try WorkerBench { _ in .init(body: WorkerBench.shop) }
        bench.broker.fail(.txnOffsetCommit, with: 22)  // ILLEGAL_GENERATION: the transaction must be aborted
        let ids = (0..<20).map { "a\($0)" }
        try await bench.send(ids.map { ($0, Self.request($0, #","keyword":"\#($0)""#)) })
        let records = try await run(bench, expecting: ids.count) { $0.delivery = .exactlyOnce }
        // The embedded broker shows aborted records too, so more may be seen; each request was asked once.
        #expect(Set(try records.map { try $0.outcome().requestID }) == Set(ids))
        #expect(bench.provider.targets.count == ids.count)
        await bench.stop()
    }

    /// Cancellation is how task groups end what they run: it drains as well.
    @Test func aCancelledWorkerDrains() async throws {
        let bench = try WorkerBench { _ in .init(body: WorkerBench.shop, delay: .milliseconds(500)) }
        let loop = try EventLoop()
        let lane = try bench.lane(on: loop, at: bench.provider.baseURL)
        let working = Task { try await lane.run() }
        try await bench.send([("last", Self.request("last"))])
        try await eventually("a request is in flight") { !bench.provider.targets.isEmpty }
        working.cancel()
        try await working.value
        loop.stop()
        let outcomes = try await bench.contents(of: WorkerBench.outcomeTopics)
        #expect(outcomes.map(\.keyText) == ["last"])
        await bench.stop()
    }

    /// What cannot begin ends, clients and all, and says why.
    @Test(.timeLimit(.minutes(1))) func aWorkerThatCannotBeginEndsWithTheReason() async throws {
        let bench = try WorkerBench()
        let loop = try EventLoop()
        bench.broker.fail(.initProducerID, with: 53, count: 100)  // TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        let lane = try bench.lane(on: loop, at: bench.provider.baseURL) { $0.delivery = .exactlyOnce }
        await #expect(throws: KafkaError.self) { try await lane.run() }
        loop.stop()
        await bench.stop()
    }
}
