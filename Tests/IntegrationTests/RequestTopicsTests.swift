import EventContract
import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

/// Workers that read requests from two topics: real TCP, with the embedded broker.
@Suite(.timeLimit(.minutes(3)))
struct RequestTopicsTests {
    private static let count = 20

    private struct Fixture {
        let base: WorkerFixture
        let topics: WorkerConfiguration.Topics

        init() throws {
            base = try WorkerFixture()
            var topics = base.topics
            topics.requestTopics.append(RequestTopic(base.broker.name("batch"), classes: [.batch]))
            self.topics = topics
            try base.broker.embedded?.createTopic(topics.requestTopics[1].name, partitions: 3)
        }

        func configure(_ configuration: inout WorkerConfiguration) { configuration.topics = topics }

        /// Sends requests to a topic, each under its own key.
        func send(_ prefix: String, to topic: RequestTopic) async throws {
            for number in 0..<RequestTopicsTests.count {
                let id = "\(prefix)\(number)"
                try await base.sender.send(
                    ProducerRecord(
                        topic: topic.name, key: Array(id.utf8), value: Array(WorkerFixture.request(id).utf8)))
            }
        }

        /// Returns the positions of the requests that have outcomes.
        func answered() async throws -> [SourcePosition] {
            try await base.contents(of: base.outcomeTopics).compactMap { SourcePosition(headers: $0.headers) }
        }
    }

    @Test(.enabled(if: TestBroker.isEmbedded, "topics are made while a test runs"))
    func `Requests of both topics have one outcome although workers change`() async throws {
        let fixture = try Fixture()
        let result = await Result.of {
            try await fixture.send("a", to: fixture.topics.requestTopics[0])
            try await fixture.send("b", to: fixture.topics.requestTopics[1])
            let ids = ["a", "b"].flatMap { prefix in (0..<Self.count).map { "\(prefix)\($0)" } }
            let outcomes = try await fixture.base.run(expecting: ids.count, fixture.configure)
            #expect(Set(try outcomes.map { try $0.outcome().requestID }) == Set(ids))

            // The next worker begins at the committed offsets, in both topics.
            try await fixture.send("c", to: fixture.topics.requestTopics[1])
            _ = try await fixture.base.run(expecting: ids.count + Self.count, fixture.configure)
            let answered = try await fixture.answered()
            #expect(answered.count == Set(answered).count && answered.count == ids.count + Self.count)
            #expect(Set(answered.map(\.topic)) == Set(fixture.topics.requestTopics.map(\.name)))
        }
        await fixture.base.stop()
        try result.get()
    }

    /// During a rolling update, some workers read only one of the topics. The group assigns each partition
    /// to a member that reads its topic.
    @Test(.enabled(if: TestBroker.isEmbedded, "topics are made while a test runs"))
    func `A worker of one topic works beside one of both`() async throws {
        let fixture = try Fixture()
        let result = await Result.of {
            try await fixture.base.whileWorking { _ in
                try await fixture.base.whileWorking(fixture.configure) { both in
                    try await eventually("the second topic is assigned", within: .seconds(60)) {
                        await both.status.positions.count { $0.id.topic == fixture.topics.requestTopics[1].name } == 3
                    }
                    try await fixture.send("a", to: fixture.topics.requestTopics[0])
                    try await fixture.send("b", to: fixture.topics.requestTopics[1])
                    try await eventually("all are answered", within: .seconds(60)) {
                        Set(try await fixture.answered()).count == 2 * Self.count
                    }
                }
            }
        }
        await fixture.base.stop()
        try result.get()
    }
}
