import Kafka
import SimulatedKafka
import SimulatedKafkaClients
import Testing

struct SimulatedTopicReaderTests {
    @Test(arguments: [
        (TopicReader.Start.beginning, ["a", "b", "c", "d"]), (.end, ["d"]), (.newest(2), ["b", "c", "d"]),
        (.newest(99), ["a", "b", "c", "d"]),
    ])
    func `Reading begins at the given start`(start: TopicReader.Start, expected: [String]) {
        let fixture = ClientFixture(partitions: 1)
        fixture.append(["a", "b", "c"])
        let reader = SimulatedTopicReader(clientID: "reader", network: fixture.network)
        #expect(fixture.call { reader.open(["requests"], at: start, within: .seconds(5), reply: $0) } == nil)
        fixture.append(["d"])
        fixture.pass(.seconds(1))
        #expect(values(reader.takeRecords(max: 10)) == expected)
    }

    @Test func `The bounds are those of the partition`() {
        let fixture = ClientFixture(partitions: 1)
        fixture.append(["a", "b", "c"])
        _ = fixture.cluster.deleteRecords(DeleteRecordsRequest([PartitionID("requests", 0): 1]))
        let reader = SimulatedTopicReader(clientID: "reader", network: fixture.network)
        let bounds: Result<[TopicPartition: Range<Int64>], KafkaError>? = fixture.wait {
            reader.bounds(of: "requests", within: .seconds(5), reply: $0)
        }
        #expect(bounds == .success([TopicPartition("requests", 0): 1..<3]))
    }

    @Test(arguments: [(true, KafkaError.Kind.timedOut), (false, .unknownTopicOrPartition)])
    func `A topic that cannot be read is an error`(isCut: Bool, expected: KafkaError.Kind) {
        let fixture = ClientFixture()
        if isCut { fixture.network.cut("reader", from: 1) }
        let reader = SimulatedTopicReader(clientID: "reader", network: fixture.network)
        let error = fixture.call {
            reader.open([isCut ? "requests" : "none"], at: .end, within: .seconds(5), reply: $0)
        }
        #expect(error?.kind == expected)
    }

    @Test func `Reading goes on after the broker was down`() {
        let fixture = ClientFixture(partitions: 1)
        let reader = SimulatedTopicReader(clientID: "reader", network: fixture.network)
        _ = fixture.call { reader.open(["requests"], at: .end, within: .seconds(5), reply: $0) }
        fixture.network.stop(1)
        fixture.pass(.seconds(5))
        fixture.network.start(1)
        fixture.append(["a"])
        fixture.pass(.seconds(5))
        #expect(values(reader.takeRecords(max: 10)) == ["a"])
    }

    /// Returns a reader of every record that begins at an offset, after it has read for a second.
    private func reader(of fixture: ClientFixture, from offset: Int64) -> SimulatedTopicReader {
        let reader = SimulatedTopicReader(clientID: "reader", network: fixture.network, mode: .everyRecord)
        let bounds: Result<[TopicPartition: Range<Int64>], KafkaError>? = fixture.wait {
            reader.bounds(of: "requests", within: .seconds(5), reply: $0)
        }
        #expect((try? bounds?.get()) != nil)
        reader.open([TopicPartition("requests", 0): offset])
        fixture.pass(.seconds(1))
        return reader
    }

    @Test func `The end is reported once after the last record`() throws {
        let fixture = ClientFixture(partitions: 1)
        fixture.append(["a", "b"])
        let reader = reader(of: fixture, from: 1)
        let news = try reader.takeNews(max: 10)
        #expect(values(news.records) == ["b"])
        #expect(news.ends == [TopicPartition("requests", 0): 2])
        fixture.pass(.seconds(1))
        #expect(!reader.hasNews)
    }

    @Test func `A reader of every record learns that the next one was deleted`() throws {
        let fixture = ClientFixture(partitions: 1)
        fixture.append(["a", "b", "c"])
        _ = fixture.cluster.deleteRecords(DeleteRecordsRequest([PartitionID("requests", 0): 2]))
        let reader = reader(of: fixture, from: 0)
        #expect { try reader.takeNews(max: 10) } throws: { ($0 as? KafkaError)?.kind == .recordsMissing }
    }

    @Test func `A reader of every record learns that its topic was deleted`() throws {
        let fixture = ClientFixture(partitions: 1)
        fixture.append(["a"])
        let reader = reader(of: fixture, from: 0)
        #expect(values(try reader.takeNews(max: 10).records) == ["a"])
        _ = fixture.cluster.deleteTopic(DeleteTopicRequest("requests"))
        fixture.pass(.seconds(2))
        #expect { try reader.takeNews(max: 10) } throws: { ($0 as? KafkaError)?.kind == .unknownTopicOrPartition }
    }
}
