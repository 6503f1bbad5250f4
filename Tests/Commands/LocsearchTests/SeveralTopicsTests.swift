import ArgumentParser
import Console
import EventContract
import Foundation
import Kafka
import KafkaTestSupport
import LocationSearch
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// The program's commands with several topics of requests.
struct SeveralTopicsTests {
    private static let topics = [RequestTopic("live"), RequestTopic("night", classes: [.batch, .interactive])]

    private static func partition(_ topic: String, _ number: Int32, at offset: Int64?, end: Int64) -> PartitionOffsets {
        PartitionOffsets(
            TopicPartition(topic, number), bounds: 0..<end, commit: offset.map { CommittedOffset($0, metadata: "") })
    }

    private static let report = OffsetsReport(
        group: "g", topics: topics, presence: .described(GroupDescription(state: "Empty", members: [])),
        partitions: [
            partition("live", 0, at: 8, end: 10), partition("live", 1, at: nil, end: 3),
            partition("night", 0, at: 100, end: 700), partition("night", 1, at: nil, end: 0),
        ])

    // MARK: - offsets

    @Test func `Offsets are shown by topic and in total`() {
        #expect(
            Self.report.text == [
                "group g: Empty, no member",
                "topic live (interactive): 2 partitions, 2 open, 0 done beyond the committed offsets",
                "topic night (batch+interactive): 2 partitions, 600 open, 0 done beyond the committed offsets",
                "all topics: 4 partitions, 602 open, 0 done beyond the committed offsets", "",
                "topic  partition  committed  end  lag  done beyond  open  contents of the commit",
                "live           0          8   10    2            0     2",
                "live           1          -    3    -            0     -  nothing committed",
                "night          0        100  700  600            0   600",
                "night          1          -    0    -            0     -  nothing committed",
            ])
        #expect(Self.report.json.count == 4)
        #expect(Self.report.json[2].hasPrefix(#"{"group":"g","topic":"night","partition":0,"committed":100,"#))
    }

    @Test func `A reset of several topics names each partition's topic`() {
        let partitions = [Self.report.partitions[0], Self.report.partitions[2]]
        let plan = ResetPlan(
            partitions, targets: partitions.reduce(into: [:]) { $0[$1.id] = 10 })
        #expect(
            plan.text == [
                "topic  partition  from  to  effect", "live           0     8  10  2 skipped",
                "night          0   100  10  90 repeated",
            ])
        #expect(plan.commits[partitions[0].id] == CommittedOffset(10))
        #expect(plan.commits[partitions[1].id] == CommittedOffset(10))
    }

    @Test func `A commit in one topic does not affect the other`() {
        let report = OffsetsReport(
            group: "g", topics: Self.topics, presence: .untold("no answer"),
            partitions: [Self.partition("live", 0, at: 8, end: 10), Self.partition("night", 0, at: nil, end: 7)])
        #expect(report.waiting[TopicPartition("live", 0)]?.count == 2)
        #expect(report.waiting[TopicPartition("night", 0)]?.count == 7)
    }

    // MARK: - status

    private static var backlog: GroupBacklog {
        var backlog = GroupBacklog(report, waiting: report.waiting, times: [:])
        backlog.rates = .init(window: .seconds(5), arrived: 2, finished: 1)
        return backlog
    }

    @Test func `The status shows the backlog by topic and in total`() {
        let lines = StatusText.lines(of: PipelineReport(backlog: Self.backlog), workers: [])
        for line in [
            "waiting   605 requests", "lag       602 behind the committed offsets",
            "topic     live (interactive): 5 requests; 2 behind the committed offsets",
            "topic     night (batch+interactive): 600 requests; 600 behind the committed offsets",
            "group     g on live (interactive), night (batch+interactive): Empty, no member",
            "night          0      600        100  700  600",
        ] { #expect(lines.contains(line), "\(line) in \(lines.joined(separator: "\n"))") }
    }

    @Test func `The status JSON has each topic`() throws {
        let text = StatusText.json(of: PipelineReport(backlog: Self.backlog), workers: [])
        let status = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let backlog = try #require(status["backlog"] as? [String: Any])
        #expect(backlog["topic"] as? String == "live")
        #expect(backlog["waiting"] as? Int == 605)
        let topics = try #require(backlog["topics"] as? [[String: Any]])
        #expect(topics.map { $0["topic"] as? String } == ["live", "night"])
        #expect(topics.map { $0["classes"] as? String } == ["interactive", "batch+interactive"])
        #expect(topics.map { $0["waiting"] as? Int } == [5, 600])
        let partitions = try #require(backlog["partitions"] as? [[String: Any]])
        #expect(partitions.map { $0["topic"] as? String } == ["live", "live", "night", "night"])
    }

    @Test func `The metrics have the topic of each partition`() {
        let metrics = PrometheusDocument(PipelineMetrics.text(of: PipelineReport(backlog: Self.backlog)))
        #expect(metrics.problems.isEmpty, "\(metrics.problems)")
        #expect(metrics.value("locsearch_group_waiting", ["group": "g", "topic": "night", "partition": "0"]) == 600)
        #expect(metrics.value("locsearch_group_waiting", ["group": "g", "topic": "live", "partition": "0"]) == 2)
        #expect(metrics.total("locsearch_group_lag") == 602)
    }

    // MARK: - topics and doctor

    @Test func `Each topic of requests has the recommended configuration`() {
        var names = WorkerConfiguration.Topics()
        names.requestTopics = Self.topics
        let all = RecommendedTopic.all(names: names, maxRequestBytes: 65_536)
        #expect(all.map(\.role) == [.requests, .requests, .results, .errors, .deadLetters, .fleet])
        #expect(all[0].name == "live" && all[1].name == "night")
        #expect(all[0].configurations == all[1].configurations && all[1].partitions == 12)
    }

    @Test(
        arguments: [
            (4, 4, 4, true, nil), (1, 1, 4, true, "have 2 partitions, but worker.loops is 4: some loops stay idle"),
            (2, 6, 4, true, "live, the first of topics.requests, has 2 partitions, but worker.loops is 4"),
            (2, 6, 4, false, nil),
        ] as [(Int, Int, Int, Bool, String?)])
    func `The doctor names loops without partitions`(
        first: Int, second: Int, loops: Int, sharesLimits: Bool, text: String?
    ) {
        let finding = TopicsCheck().lookAtLoops(
            loops, [("live", first), ("night", second)], sharesLimits: sharesLimits)
        #expect(finding?.text.contains(text ?? "nothing is expected") ?? (text == nil), "\(finding?.text ?? "none")")
    }

    // MARK: - Dead letters, and requests with known position only

    private func letter(from topic: String, offset: Int64) -> DeadLetterSummary {
        let record = ConsumerRecord(
            source: SourcePosition(topic: topic, partition: 0, offset: offset), value: Array("{}".utf8))
        return DeadLetterSummary(
            DeadLetter(record, error: SearchError(.invalidRequest, "no"), at: WallTime(milliseconds: 1)),
            at: RedriveMark(partition: 0, offset: offset))
    }

    @Test func `Letters are redriven to the topic that they came from`() {
        var names = WorkerConfiguration.Topics()
        names.requestTopics = Self.topics
        let targets = RedriveTargets(names)
        #expect(targets.topic(for: SourcePosition(topic: "night", partition: 7, offset: 1)) == "night")
        #expect(targets.topic(for: SourcePosition(topic: "live", partition: 0, offset: 1)) == "live")
        // A topic that is not configured as a topic of requests.
        #expect(targets.topic(for: SourcePosition(topic: "old", partition: 0, offset: 1)) == "live")
        #expect(targets.topic(for: nil) == "live")

        let letters = [
            letter(from: "night", offset: 0), letter(from: "old", offset: 1), letter(from: "live", offset: 2),
        ]
        #expect(targets.topics(for: letters) == "live (2) and night (1)")
        #expect(targets.topics(for: [letters[0]]) == "night")
        #expect(targets.topics(for: []) == "live")
    }

    @Test func `A filter selects letters by their topic`() throws {
        let filter = try DeadLetterFilter.parse(["--topic", "night"])
        for (topic, matches) in [("night", true), ("live", false)] {
            let record = ConsumerRecord(
                source: SourcePosition(topic: topic, partition: 0, offset: 0), value: Array("{}".utf8))
            let letter = DeadLetter(record, error: SearchError(.invalidRequest, "no"), at: WallTime(milliseconds: 1))
            #expect(filter.matches(letter) == matches)
        }
    }

    @Test(arguments: [("live-3-7", "live"), ("night-0@12", "night"), ("other-0-1", nil)] as [(String, String?)])
    func `A position in any topic of requests is found`(text: String, topic: String?) {
        #expect(SoughtRequest(text, in: ["live", "night"]).position?.topic == topic)
    }
}

/// The commands as processes with a broker and two topics of requests.
@Suite(.timeLimit(.minutes(2)))
struct SeveralTopicsCommandTests {
    private let group: GroupFixture
    private var live: String { group.broker.name("live") }
    private var night: String { group.broker.name("night") }

    init() throws {
        group = try GroupFixture(topics: ["live": 1, "night": 2, "results": 1, "errors": 1, "letters": 1])
    }

    private func fill() async throws {
        for (topic, partition, count) in [(live, 0, 4), (night, 0, 10), (night, 1, 20)] as [(String, Int32, Int)] {
            for number in 0..<count {
                let value = #"{"requestId":"\#(topic)/\#(number)","location":{"latitude":35.69,"longitude":139.7}}"#
                try await group.producer.send(Array(value.utf8), to: topic, partition: partition)
            }
        }
        let commits = [(live, Int32(0), Int64(3)), (night, 0, 5), (night, 1, 5)]
        try await group.commit(commits.reduce(into: [:]) { $0[TopicPartition($1.0, $1.1)] = CommittedOffset($1.2) })
    }

    private func run(_ arguments: String...) async throws -> RunningProgram {
        let names = ["TOPICS_RESULTS": "results", "TOPICS_ERRORS": "errors", "TOPICS_DEAD_LETTERS": "letters"]
        let topics = names.mapValues(group.broker.name).merging(["TOPICS_REQUESTS": "\(live),\(night):batch"]) { $1 }
        return try await group.run(arguments, topics)
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "offsets are moved by force, since the embedded broker tells no members"))
    func `Offsets of all topics are shown and moved`() async throws {
        try await fill()
        let shown = try await run("offsets", "show")
        #expect(shown.output.contains("topic \(live) (interactive): 1 partition, 1 open"), "\(shown.output)")
        #expect(shown.output.contains("topic \(night) (batch): 2 partitions, 20 open"), "\(shown.output)")
        #expect(shown.output.contains("all topics: 3 partitions, 21 open"), "\(shown.output)")
        let one = try await run("offsets", "show", "--topic", night, "--json")
        #expect(one.output.split(separator: "\n").count == 2, "\(one.output)")

        let refused = try await run("offsets", "reset", "--to", "earliest", "--partition", "0", "--force", "--yes")
        #expect(refused.code == 64 && refused.error.contains("--partition needs --topic"), "\(refused.error)")
        let picked = try await run(
            "offsets", "reset", "--to", "7", "--topic", night, "--partition", "1", "--force", "--yes")
        #expect(picked.code == 0, "\(picked.error)")
        let all = try await run("offsets", "reset", "--to", "latest", "--force", "--yes")
        #expect(all.output.contains("19 are skipped"), "\(all.output)")
        let ids = [TopicPartition(live, 0), TopicPartition(night, 0), TopicPartition(night, 1)]
        let commits = try await group.commits(of: ids)
        #expect(ids.map { commits[$0]?.offset } == [4, 10, 20])
    }

    @Test func `The status and explain commands read all topics`() async throws {
        try await fill()
        let status = try await run("status", "--window", "200ms")
        #expect(
            status.output.contains("\(night) (batch): 20 requests, the oldest for"), "\(status.output)\(status.error)")
        #expect(status.output.contains("waiting   21 requests"), "\(status.output)")

        let life = try await run("explain", "\(night)/7")
        #expect(life.output.contains("\(night), partition 0, offset 7"), "\(life.output)\(life.error)")
        #expect(life.output.contains("waits in partition 0 of \(night), 2 records before it"), "\(life.output)")
    }

    @Test func `The doctor checks each topic`() async throws {
        let report = await DoctorFixture.report([
            "kafka.bootstrapServers": group.broker.bootstrapServers,
            "topics.requests": "\(live),gone:batch,\(night):batch",
        ])
        let topics = report.findings.filter { $0.check == "topics" }
        let missing = topics.filter { $0.state == .failed }.map(\.text)
        #expect(missing.count == 1 && missing[0].hasPrefix("gone (topics.requests), "), "\(missing)")
        for name in [live, night] { #expect(topics.contains { $0.text.hasPrefix(name) }, "\(topics.map(\.text))") }
    }
}
