import EventContract
import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

/// Each invalid record in the requests topic ends as one outcome that names the error and as a dead letter with
/// its exact bytes, and the worker goes on.
@Suite(
    .serialized,
    .enabled(if: TestBroker.isEmbedded, "another broker's end offsets are not exact, so nothing can be read to its end")
)
struct BadRecordTests {
    /// A record, and the member that its error event names.
    struct Bad: Sendable {
        let name: String
        let value: [UInt8]?
        var headers: [RecordHeader] = []
        let member: String

        init(_ name: String, _ value: [UInt8]?, headers: [RecordHeader] = [], member: String = "value") {
            (self.name, self.value, self.headers, self.member) = (name, value, headers, member)
        }

        init(_ name: String, _ text: String, headers: [RecordHeader] = [], member: String = "value") {
            self.init(name, Array(text.utf8), headers: headers, member: member)
        }
    }

    /// A search with an additional member, or with a second one of that name.
    private static func search(_ member: String = #""x":0"#) -> String {
        #"{"provider":"hotpepper","location":{"latitude":35.69,"longitude":139.7},\#(member)}"#
    }

    private static func at(_ latitude: String, _ longitude: String = "139.7") -> String {
        #"{"provider":"hotpepper","location":{"latitude":\#(latitude),"longitude":\#(longitude)}}"#
    }

    private static let noRequests = [
        Bad("no value", nil), Bad("empty", ""), Bad("blank", " "), Bad("no JSON", "no JSON"), Bad("null", "null"),
        Bad("array", "[]"), Bad("cut", #"{"location":{"latitude":35"#), Bad("two", search() + search()),
        Bad("HTML", "<html></html>"), Bad("UTF-16", [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00]),
        Bad("zeros", [UInt8](repeating: 0, count: 1000)),
        Bad("Avro", [0, 0, 0, 0, 7] + Array(search().utf8)),
        Bad("deep", String(repeating: "[", count: 100_000)),
        Bad("deep in a member", #"{"x":"# + String(repeating: #"{"x":"#, count: 10_000)),
        Bad("deep and small", #"{"x":"# + String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}"),
        Bad("NaN", at("NaN")), Bad("Infinity", at("Infinity")), Bad("-Infinity", at("35", "-Infinity")),
        Bad("UTF-8 in what is ignored", Array(#"{"x":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)),
        Bad("64 KB and more", search(#""x":"\#(String(repeating: "x", count: 65_536))""#)),
    ]

    private static let members = [
        Bad("nothing", "{}", member: "location"), Bad("latitude 91", at("91"), member: "location.latitude"),
        Bad("1e999", at("1e999"), member: "location.latitude"),
        Bad("-1e999", at("0", "-1e999"), member: "location.longitude"),
        Bad("longitude 181", at("0", "181"), member: "location.longitude"),
        Bad("text for a number", at("\"35\""), member: "location.latitude"),
        Bad("radius -1", search(#""radiusMeters":-1"#), member: "radiusMeters"),
        Bad("radius 0", search(#""radiusMeters":0"#), member: "radiusMeters"),
        Bad("radius 1e999", search(#""radiusMeters":1e999"#), member: "radiusMeters"),
        Bad(
            "requestId of 10 KB", search(#""requestId":"\#(String(repeating: "r", count: 10_240))""#),
            member: "requestId"),
        Bad(
            "UTF-8 in a member", Array(#"{"requestId":""#.utf8) + [0xC3, 0x28] + Array("\"}".utf8), member: "requestId"
        ),
        Bad("a member twice", search(#""limit":7,"limit":"many""#), member: "limit"),
        Bad("a location twice", search(#""location":{"latitude":91,"longitude":0}"#), member: "location.latitude"),
        Bad("no such provider", search(#""provider":"yelp""#), member: "provider"),
    ]

    /// Each member of the contract with a value of a wrong type.
    private static let types = [
        ("requestId", "7"), ("operation", "[]"), ("provider", "{}"), ("category", "true"), ("location", "\"here\""),
        ("radiusMeters", "\"1500\""), ("keyword", "12"), ("language", "[\"ja\"]"), ("openNow", "\"yes\""),
        ("limit", "\"20\""), ("pageToken", "{}"), ("placeId", "5"), ("sessionId", "false"), ("timeoutMs", "\"5s\""),
    ].map { member, value in
        Bad("type of \(member)", search(#""\#(member)":\#(value)"#), member: member)
    }

    private static let event = [
        "ce_specversion": "1.0", "ce_id": "event-1", "ce_source": "/tests", "ce_type": "location-search.requested.v1",
        "content-type": "application/json",
    ]
    /// Binary mode, with one header that is wrong or missing.
    private static let envelopes: [Bad] = {
        let wrong: [(String, [UInt8]?)] = [
            ("ce_specversion", Array("0.3".utf8)), ("ce_specversion", nil), ("ce_id", []), ("ce_id", [0xC3, 0x28]),
            ("ce_source", nil), ("ce_source", [0xFF]), ("ce_type", Array("location-search.completed.v1".utf8)),
            ("ce_type", nil), ("content-type", Array("text/plain".utf8)),
        ]
        return wrong.enumerated().map { number, header in
            var headers = event.filter { $0.key != header.0 }.sorted { $0.key < $1.key }.map {
                RecordHeader($0.key, Array($0.value.utf8))
            }
            headers.insert(RecordHeader(header.0, header.1), at: number % headers.count)
            // Names may repeat; values may be null or no text.
            headers += [RecordHeader("x", nil), RecordHeader("x", []), RecordHeader("x", [0xFF, 0])]
            return Bad("event \(number)", search(), headers: headers, member: header.0)
        } + [
            Bad(
                "structured", #"{"specversion":"1.0","id":"e","source":"/tests","type":"other","data":{}}"#,
                headers: [RecordHeader("content-type", Array("application/cloudevents+json".utf8))], member: "type"),
            Bad(
                "headers of 70 KB", search(), headers: [RecordHeader("x", [UInt8](repeating: 65, count: 70_000))],
                member: "headers"),
        ]
    }()

    @Test(arguments: [WorkerConfiguration.Delivery.atLeastOnce, .exactlyOnce])
    func `A bad record becomes one error and one dead letter`(delivery: WorkerConfiguration.Delivery) async throws {
        let fixture = try WorkerFixture()
        let all = Self.noRequests + Self.members + Self.types + Self.envelopes
        for bad in all { try await fixture.send(bad.name, bad.value, headers: bad.headers) }
        try await fixture.send([("good", Self.search(#""requestId":"good""#))])
        try await fixture.whileWorking {
            $0.delivery = delivery
        } _: { lane in
            try await check(all, on: fixture, lane, commits: delivery == .atLeastOnce)
        }
        await fixture.stop()
    }

    /// Larger than Kafka's default limit: a topic of requests may be configured for such records.
    @Test(arguments: [1_040_000, 10_000_000]) func `A record of megabytes becomes a dead letter`(
        count: Int
    ) async throws {
        let fixture = try WorkerFixture()
        let large = Bad("large", Array(Self.search().utf8) + [UInt8](repeating: 0x20, count: count))
        try await fixture.whileWorking { lane in
            try await fixture.send(large.name, large.value)
            try await fixture.send([("good", Self.search(#""requestId":"good""#))])
            try await check([large], on: fixture, lane)
        }
        await fixture.stop()
    }

    /// Topics have separate limits. A rejected record must not end the worker, because it would end each following one too.
    @Test(arguments: [
        (WorkerConfiguration.Delivery.atLeastOnce, search()), (.atLeastOnce, "no JSON"), (.exactlyOnce, search()),
    ])
    func `An outcome that is too large even alone is truncated`(
        delivery: WorkerConfiguration.Delivery, value: String
    ) async throws {
        let fixture = try WorkerFixture()
        let isRequest = value != "no JSON"
        try await fixture.send([("large", value)])
        // MSG_SIZE_TOO_LARGE for the batch and, without transactions, also for the single record, which is then sent at once.
        fixture.broker.embedded?.fail(.produce, with: 10, count: delivery == .exactlyOnce ? 1 : 2)
        let outcomes = try await fixture.whileWorking {
            $0.delivery = delivery
        } _: { _ in
            _ = try await fixture.records(of: fixture.outcomeTopics) { $0.count == 1 }
            try await fixture.send([("good", Self.search())])
            return try await fixture.records(of: fixture.outcomeTopics) { $0.count == 2 }
        }
        #expect(outcomes.map(\.keyText).sorted() == ["good", "large"])
        let event = try #require(outcomes.first { $0.keyText == "large" }).outcome()
        #expect(event.code == (isRequest ? "bad-response" : "invalid-request"))
        #expect(event.attempts == (isRequest ? 1 : 0))
        let letters = try await fixture.contents(of: [fixture.topics.deadLetters])
        #expect(letters.count == (isRequest ? 0 : 1))
        for letter in letters {
            let read = try #require(DeadLetter(key: letter.key, value: letter.value, headers: letter.headers))
            #expect(read.isWithoutContent && read.value == nil && read.source == event.source)
        }
        await fixture.stop()
    }

    /// A broker rejects a whole batch for its size. Each of its records is small enough, so none is truncated.
    @Test func `Records of a batch that is too large are sent again one by one`() async throws {
        let fixture = try WorkerFixture()
        let names = (0..<40).map { "request-\($0)" }
        try await fixture.send(names.map { (key: "one key", value: Self.search(#""requestId":"\#($0)""#)) })
        fixture.broker.embedded?.fail(.produce, with: 10, count: 1)

        let outcomes = try await fixture.run(expecting: names.count)
        #expect(try outcomes.map { try $0.outcome().requestID }.sorted() == names.sorted())
        #expect(try outcomes.allSatisfy { try $0.outcome().failure == nil })
        await fixture.stop()
    }

    /// TOPIC_AUTHORIZATION_FAILED.
    private static let notAuthorized: Int32 = 29

    /// A dead letter that cannot be written blocks only its partition, and no record of that partition is published twice. Not with
    /// transactions: the embedded broker shows records of aborted ones.
    @Test func `A dead letter that cannot be written blocks only its partition`() async throws {
        let fixture = try WorkerFixture()
        let broker = try #require(fixture.broker.embedded)
        broker.setError(Self.notAuthorized, ofTopic: fixture.topics.deadLetters)
        try await fixture.send("bad", Array("no JSON".utf8), to: 0)

        try await fixture.whileWorking {
            $0.shutdownGrace = .seconds(1)
        } _: { lane in
            try await eventually("the lane says which topic takes nothing") {
                await lane.status.delivery.problem?.contains(fixture.topics.deadLetters) == true
            }
            try await fixture.send("good", Array(Self.search(#""requestId":"good""#).utf8), to: 1)
            let outcomes = try await fixture.records(of: fixture.outcomeTopics) { !$0.isEmpty }
            #expect(outcomes.map(\.keyText) == ["good"])

            broker.setError(0, ofTopic: fixture.topics.deadLetters)
            let all = try await fixture.records(of: fixture.outcomeTopics) { $0.count == 2 }
            #expect(all.map(\.keyText).sorted() == ["bad", "good"])
            try await eventually("nothing is wrong any more") { await lane.status.delivery.problem == nil }
        }
        await fixture.stop()
    }

    /// Outcomes that cannot be written stop intake and calls, and the worker ends in time when it is drained.
    @Test(arguments: WorkerConfiguration.Delivery.allCases)
    func `Intake pauses while the results topic rejects records`(delivery: WorkerConfiguration.Delivery) async throws {
        let fixture = try WorkerFixture()
        let broker = try #require(fixture.broker.embedded)
        broker.setError(Self.notAuthorized, ofTopic: fixture.topics.results)
        try await fixture.send([("first", Self.search(#""requestId":"first""#))])

        try await fixture.whileWorking {
            $0.delivery = delivery
            $0.shutdownGrace = .seconds(1)
        } _: { lane in
            try await eventually("the lane says what is wrong") { await lane.status.delivery.problem != nil }
            let paid = fixture.provider.targets.count
            try await fixture.send((0..<20).map { ("later", Self.search(#""keyword":"later-\#($0)""#)) })
            try await eventually("the consumer has seen them") {
                await lane.status.positions.compactMap(\.end).reduce(0, +) == 21
            }
            #expect(fixture.provider.targets.count == paid)

            broker.setError(0, ofTopic: fixture.topics.results)
            _ = try await fixture.records(of: fixture.outcomeTopics) { $0.count == 21 }
            #expect(fixture.provider.targets.count == paid + 20, "what was paid for is not asked for again")
        }
        await fixture.stop()
    }

    /// - Parameter commits: whether offsets are visible; the embedded broker drops those of transactions.
    private func check(_ all: [Bad], on fixture: WorkerFixture, _ lane: WorkerLane, commits: Bool = true) async throws {
        if commits {
            try await fixture.allIsCommitted(by: lane)
        } else {
            _ = try await fixture.records(of: fixture.outcomeTopics) { $0.count > all.count }
        }
        let outcomes = try await fixture.contents(of: fixture.outcomeTopics, atLeast: commits ? nil : all.count + 1)
        #expect(outcomes.map(\.keyText).sorted() == (all.map(\.name) + ["good"]).sorted())
        let letters = Dictionary(
            grouping: try await fixture.contents(of: [fixture.topics.deadLetters], atLeast: commits ? nil : all.count),
            by: \.keyText)
        for bad in all {
            let record = try #require(outcomes.first { $0.keyText == bad.name })
            let outcome = try record.outcome()
            let failure = try #require(outcome.failure, "\(bad.name)")
            #expect(failure.code == "invalid-request", "\(bad.name)")
            #expect(failure.member == bad.member, "\(bad.name): \(failure.message)")
            #expect(!failure.isRetryable && failure.message.contains("expected"), "\(bad.name): \(failure.message)")
            #expect(outcome.source != nil && (1...128).contains(outcome.requestID.count), "\(bad.name)")
            #expect(record.value.map { $0.count < 1000 } == true, "\(bad.name)")
            let letter = try #require(letters[bad.name]?.first, "\(bad.name)")
            #expect(letters[bad.name]?.count == 1 && letter.value == bad.value, "\(bad.name)")
            #expect(Array(letter.headers.prefix(bad.headers.count)) == bad.headers, "\(bad.name)")
            let read = try #require(DeadLetter(key: letter.key, value: letter.value, headers: letter.headers))
            #expect(read.member == bad.member && read.source == outcome.source, "\(bad.name)")
        }
        #expect(letters.count == all.count)
        let good = try #require(outcomes.first { $0.keyText == "good" })
        #expect(try good.outcome().places != nil, "it came behind them")
        #expect(fixture.provider.targets.count == 1)
    }
}
