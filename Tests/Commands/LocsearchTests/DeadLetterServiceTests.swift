import Console
import EventContract
import Foundation
import Kafka
import KafkaTestSupport
import LocationSearch
import TestSupport
import Testing

@testable import locsearch

/// The console's dead letters on a broker: listed, viewed, validated and sent back.
struct DeadLetterServiceTests {
    private static let right = #"{"requestId":"R-1","location":{"latitude":35.69,"longitude":139.7}}"#
    private static let wrong = #"{"requestId":"R-1","location":{"latitude":135.69,"longitude":139.7}}"#

    private func deadLetterService(_ harness: DeadLetterHarness) throws -> DeadLetterService {
        DeadLetterService(try Settings.load(flags: [:], file: nil, environment: harness.environment), log: .silent)
    }

    private func mark(_ offset: Int64) -> RedriveMark { RedriveMark(partition: 0, offset: offset) }

    @Test func `Dead letters are grouped and filtered`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(
            0, age: .seconds(7200), value: Self.wrong, member: "location", producer: "https://a.example")
        try await harness.put(
            1, age: .seconds(60), value: Self.right, member: "location", producer: "https://a.example")
        try await harness.put(2, age: .seconds(30), value: "Zebra")
        try await harness.put(3, crashesWorkers: true, value: Self.right)
        let deadLetterService = try deadLetterService(harness)

        func offsets(_ adjust: (inout DeadLetterQuery) -> Void = { _ in }) async throws -> [Int64] {
            var query = DeadLetterQuery()
            adjust(&query)
            return try await deadLetterService.list(query).letters.map(\.mark.offset)
        }
        #expect(try await offsets() == [3, 2, 1, 0], "the newest first")
        #expect(try await offsets { $0.reason = "crashed-workers" } == [3])
        #expect(try await offsets { $0.member = "location" } == [1, 0])
        #expect(try await offsets { $0.member = "" } == [3, 2])
        #expect(try await offsets { $0.producer = "https://a.example" } == [1, 0])
        #expect(try await offsets { $0.producer = "" } == [3, 2])
        #expect(try await offsets { $0.text = "zEBRA" } == [2])
        #expect(try await offsets { $0.text = "r-1" } == [3, 1, 0])
        #expect(try await offsets { $0.text = "135.69" } == [0])
        #expect(try await offsets { $0.text = "@1" } == [1])
        #expect(try await offsets { $0.text = "nowhere" } == [])
        #expect(
            try await offsets { $0.since = WallTime(milliseconds: WallTime.now().milliseconds - 3_600_000) } == [
                3, 2, 1,
            ])
        #expect(try await offsets { $0.limit = 1 } == [3])

        let list = try await deadLetterService.list(DeadLetterQuery(limit: 1))
        #expect(list.total == 4 && list.matching == 4 && list.letters.count == 1 && !list.isPartial)
        let groups = list.groups.sorted
        #expect(groups.map(\.count.letters) == [2, 1, 1] && groups[0].kind.producer == "https://a.example")
        #expect(groups[0].count.pending == 2 && groups[0].count.faulty == 1)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(list.json)) as? [String: Any])
        #expect(json["matching"] as? Int == 4 && json["confirm"] as? String == list.version)
        let letter = try #require((json["letters"] as? [[String: Any]])?.first)
        #expect(letter["reason"] as? String == "crashed-workers" && letter["redriven"] as? Bool == false)
        #expect((letter["letter"] as? [String: Any])?["offset"] as? Int == 3 && letter["head"] as? String == Self.right)
        #expect((json["groups"] as? [[String: Any]])?.count == 3)
        await deadLetterService.close()
    }

    @Test func `A whole dead letter is read and validated`() async throws {
        let harness = try await DeadLetterHarness(partitions: 2)
        try await harness.put(0)
        try await harness.put(7, in: 1, value: Self.wrong)
        let deadLetterService = try deadLetterService(harness)

        let position = RedriveMark(partition: 1, offset: 0)
        let json =
            try JSONSerialization.jsonObject(with: Data(try await deadLetterService.whole(position))) as? [String: Any]
        #expect(json?["value"] as? String == Self.wrong && json?["offset"] as? Int == 7)
        #expect(json?["requestId"] as? String == "R-1" && json?["faultMember"] as? String == "location.latitude")
        #expect((json?["letter"] as? [String: Any])?["partition"] as? Int == 1)

        #expect(try await deadLetterService.fault(of: Array(Self.right.utf8), in: position) == nil)
        let fault = try await deadLetterService.fault(of: Array(#"{"location":5}"#.utf8), in: position)
        #expect(fault?.member == "location")
        for gone in [RedriveMark(partition: 1, offset: 1), RedriveMark(partition: 7, offset: 0)] {
            let error = await #expect(throws: ConsoleError.self) { _ = try await deadLetterService.whole(gone) }
            #expect(error?.kind == .notFound, "\(String(describing: error))")
        }
        await deadLetterService.close()
    }

    @Test func `The report shows the outcomes of redriven letters`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for offset in 0..<4 { try await harness.put(offset, value: offset == 3 ? Self.wrong : Self.right) }
        try await harness.mark(RedriveMark(partition: 0, offset: 0), in: 0)
        let deadLetterService = try deadLetterService(harness)
        let version = try await deadLetterService.list(DeadLetterQuery()).version
        try await harness.put(4)  // another letter that arrives meanwhile changes nothing

        let chosen: [RedriveMark: [UInt8]?] = [
            mark(0): nil, mark(1): nil, mark(2): nil, mark(3): Array(Self.right.utf8), mark(99): nil,
        ]
        let (id, first) = try await deadLetterService.redrive(chosen, ofVersion: version)
        #expect(first.chosen == 3 && first.wentBefore == 1 && first.deleted == 1)
        try await eventually("all went back") { deadLetterService.report(id)?.isSending == false }
        let sent = try await harness.requests().map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(sent == [Self.right, Self.right, Self.right], "one of them as it was edited")
        #expect(
            deadLetterService.report(id)?.sent == 3 && deadLetterService.report(id)?.open == 3
                && deadLetterService.report(id)?.isWaiting == true)

        try await harness.answer(0, with: nil)
        try await eventually("the first outcome") { deadLetterService.report(id)?.completed == 1 }
        try await harness.answer(1, with: "timeout")
        try await harness.answer(2, with: "invalid-request")
        try await harness.put(2, value: Self.right)  // its letter, as a worker writes it
        try await eventually("nothing more is to come") { deadLetterService.report(id)?.isWaiting == false }
        let last = try #require(deadLetterService.report(id))
        #expect(last.completed == 1 && last.cameBack == 1 && last.open == 0 && last.problem == nil)
        #expect(last.failed == ["timeout": 1, "invalid-request": 1])
        #expect(deadLetterService.report(id + 1) == nil)

        let list = try await deadLetterService.list(DeadLetterQuery())
        #expect(list.letters.filter(\.isRedriven).map(\.mark.offset) == [3, 2, 1, 0])
        await deadLetterService.close()
    }

    @Test func `A letter is sent again with a new expiry only if this is requested`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0, value: Self.right, expiry: WallTime(milliseconds: 0))
        try await harness.mark(mark(0), in: 0)
        let service = try deadLetterService(harness)
        let version = try await service.list(DeadLetterQuery()).version

        let (refused, report) = try await service.redrive([mark(0): nil], ofVersion: version)
        #expect(report.chosen == 0 && report.wentBefore == 1)
        try await eventually("the first run has ended") { service.report(refused)?.isSending == false }
        let (id, _) = try await service.redrive([mark(0): nil], ofVersion: version, expiry: .seconds(300), again: true)
        try await eventually("it went back") { service.report(id)?.isSending == false }
        let sent = try await harness.requests()
        let expiry = sent.last?.headers.last(named: "ce_expirytime")?.value.flatMap(WallTime.init(rfc3339:))
        #expect(sent.count == 1 && (expiry ?? .init(milliseconds: 0)) > WallTime.now().adding(.seconds(200)))
        await service.close()
    }

    @Test func `One letter is redriven without reading those before it`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for offset in 0..<60 { try await harness.put(offset, value: Self.right) }
        try await harness.mark(mark(52), in: 0)
        let settings = try Settings.load(flags: [:], file: nil, environment: harness.environment)
        let topic = try DeadLetterTopic(settings, timeout: .seconds(30), log: .silent)

        let one = try await topic.snapshot(of: [mark(50): nil])
        #expect(one.letters.map(\.mark) == [mark(50)] && one.records == 11, "the letter, and what stands behind it")
        let three = try await topic.snapshot(of: [
            mark(52): nil, mark(51): Array(Self.wrong.utf8), mark(55): nil, mark(61): nil, mark(-1): nil,
        ])
        #expect(
            three.letters.map(\.mark.offset) == [51, 52, 55] && three.letters.map(\.isRedriven) == [false, true, false])
        #expect(three.letters.map(\.faultMember) == ["location.latitude", nil, nil])
        #expect(three.records == 10)
        #expect(try await topic.snapshot(of: [mark(99): nil]).records == 0)
        #expect(one.continues("0:61") && !one.continues("0:62"))
    }

    @Test func `A redrive mark is in the partition of its letter`() async throws {
        let harness = try await DeadLetterHarness(partitions: 3)
        for number in 0..<12 { try await harness.put(number, in: Int32(number % 3), value: Self.right) }
        let deadLetterService = try deadLetterService(harness)
        let version = try await deadLetterService.list(DeadLetterQuery()).version
        let all = Dictionary(
            (0..<12).map { (RedriveMark(partition: Int32($0 % 3), offset: Int64($0 / 3)), [UInt8]?.none) }
        ) { $1 }
        let (id, _) = try await deadLetterService.redrive(all, ofVersion: version)
        try await eventually("all went back") { deadLetterService.report(id)?.isSending == false }
        #expect(deadLetterService.report(id)?.sent == 12)

        let reader = try TopicReader(
            ConsumerConfiguration(bootstrapServers: harness.broker.bootstrapServers), log: .silent)
        let records = try await reader.contents(of: [harness.broker.name("letters")])
        let marks = records.compactMap { record in
            RedriveMark(value: record.value, headers: record.headers).map {
                ($0.partition, record.partition.id.partition)
            }
        }
        #expect(marks.count == 12 && marks.allSatisfy { $0 == $1 })
        await deadLetterService.close()
    }

    @Test func `A fifth redrive waits until an earlier one has its outcomes`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        for offset in 0..<5 { try await harness.put(offset, value: Self.right) }
        let deadLetterService = try deadLetterService(harness)
        let version = try await deadLetterService.list(DeadLetterQuery()).version
        for offset in Int64(0)..<4 {
            let (id, _) = try await deadLetterService.redrive([mark(offset): nil], ofVersion: version)
            try await eventually("it went back") { deadLetterService.report(id)?.isSending == false }
        }

        let error = await #expect(throws: ConsoleError.self) {
            _ = try await deadLetterService.redrive([mark(4): nil], ofVersion: version)
        }
        #expect(error?.kind == .busy)
        try await harness.answer(0, with: nil)
        try await eventually("the first run is over, and there is room") {
            (try? await deadLetterService.redrive([mark(4): nil], ofVersion: version)) != nil
        }
        await deadLetterService.close()
    }

    @Test func `A letter that must not be redriven is rejected with a reason`() async throws {
        let harness = try await DeadLetterHarness(partitions: 1)
        try await harness.put(0, value: Self.right)
        try await harness.put(1, crashesWorkers: true, value: Self.right)
        let deadLetterService = try deadLetterService(harness)
        let version = try await deadLetterService.list(DeadLetterQuery()).version

        func refusal(_ letters: [RedriveMark: [UInt8]?], _ version: String) async -> ConsoleError? {
            await #expect(throws: ConsoleError.self) {
                _ = try await deadLetterService.redrive(letters, ofVersion: version)
            }
        }
        let crash = await refusal([mark(0): nil, mark(1): nil], version)
        #expect(crash?.kind == .invalid && crash?.message.contains("redrive --reason crashed-workers --force") == true)
        let edited = await refusal([mark(0): Array(Self.wrong.utf8)], version)
        #expect(edited?.kind == .invalid && edited?.member == "location.latitude")
        #expect(await refusal([mark(0): nil], "0:9")?.kind == .changed)
        #expect(try await harness.requests().isEmpty)

        // After a rejection, another redrive is possible.
        let (id, _) = try await deadLetterService.redrive([mark(0): nil], ofVersion: version)
        try await eventually("it went back") { deadLetterService.report(id)?.isSending == false }
        #expect(deadLetterService.report(id)?.sent == 1)
        await deadLetterService.close()
    }
}
