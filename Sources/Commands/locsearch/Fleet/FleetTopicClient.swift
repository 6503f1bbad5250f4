import EventLoop
import Kafka
import Logging
import QuotaSharing
internal import WorkerRuntime

/// Reads the fleet topic and publishes messages to it on behalf of a command. Each call creates its own Kafka clients.
struct FleetTopicClient {
    private let codec: FleetCodec
    private let name: String
    private let configuration: ConsumerConfiguration
    private let producer: ProducerConfiguration
    private let timeout: Duration
    private let log: Logger

    private var partition: TopicPartition { TopicPartition(name, 0) }

    /// - Parameter timeout: how long a call waits for the broker before it fails.
    init(_ settings: Settings, timeout: Duration, log: Logger) throws {
        name = settings.topics.fleet
        configuration = try settings.consumer().reconnectingSoon
        codec = FleetCodec(group: configuration.groupID, requestsTopic: settings.topics.requests)
        var producer = try settings.producer()
        producer.linger = .zero  // records are sent one at a time, so there is nothing to batch
        (self.producer, self.timeout, self.log) = (producer, timeout, log)
    }

    // MARK: - Reading

    /// Reads the newest records. It then reads all records if the newest do not contain the state. An empty topic is
    /// not read.
    /// - Parameters:
    ///   - history: how many of the newest records are read first.
    ///   - begin: called with the extent before each of the one or two reads.
    ///   - take: called for each record in order, and at the end with the last offset, which may hold no record.
    ///   - needsOlder: called after the newest records are read.
    func read(
        newest history: Int64, begin: (FleetTopicExtent) -> Void,
        take: (_ message: FleetMessage?, _ offset: Int64) -> Void, needsOlder: () -> Bool
    ) async throws {
        do {
            let reader = try makeReader()
            let bounds = try await bounds(by: reader)
            guard !bounds.isEmpty else { return }

            func read(from first: Int64) async throws {
                begin(FleetTopicExtent(first: first, end: bounds.upperBound, oldest: bounds.lowerBound))
                try await reader.read(
                    from: [partition: first], upTo: [partition: bounds.upperBound], timeout: timeout
                ) { record in
                    take(message(record), record.offset)
                    return true
                }
                take(nil, bounds.upperBound - 1)
            }
            try await read(from: max(bounds.lowerBound, bounds.upperBound - history))
            if needsOlder() { try await read(from: bounds.lowerBound) }
        } catch let error as KafkaError {
            throw unreadable(error)
        }
    }

    private func makeReader() throws(KafkaError) -> TopicReader {
        try TopicReader(configuration, mode: .everyRecord, log: log)
    }

    private func bounds(by reader: TopicReader) async throws(KafkaError) -> Range<Int64> {
        try await reader.bounds(of: name, within: timeout)[partition] ?? 0..<0
    }

    private func message(_ record: ConsumerRecord) -> FleetMessage? { record.value.flatMap(codec.message) }

    private func unreadable(_ error: KafkaError) -> Failure {
        Failure(error, doing: "\(name) at \(configuration.bootstrapServers) cannot be read")
    }

    // MARK: - Publishing

    /// Publishes a message, and reads the messages that members publish afterwards.
    /// - Parameters:
    ///   - time: how long to read.
    ///   - take: called for each message in order. It returns true once no more are needed.
    func ask(_ question: FleetMessage, within time: Duration, take: (FleetMessage) -> Bool) async throws {
        do {
            let reader = try makeReader()
            try await reader.open([partition: try await bounds(by: reader).upperBound])
            try await send(question)

            let end = Instant.now + time
            while Instant.now < end {
                for record in try await reader.news(max: 500, within: .milliseconds(100)).records {
                    if let message = message(record), take(message) { return }
                }
            }
        } catch let error as KafkaError {
            throw unreadable(error)
        }
    }

    /// Publishes a message. Returns once the brokers have acknowledged it.
    func send(_ message: FleetMessage) async throws {
        let loop = try EventLoop()
        let producer = try KafkaProducer(loop: loop, configuration: producer, log: log)
        let record = ProducerRecord(topic: name, partition: 0, value: codec.bytes(of: message))

        var failure: KafkaError?
        do throws(KafkaError) { try await producer.send(record) } catch { failure = error }
        await producer.close()
        loop.stop()
        if let failure { throw Failure(failure, doing: "\(name) does not accept a record") }
    }
}

extension FleetCodec {
    /// Makes the codec of the workers with a consumer group and a requests topic. No topic's name contains the separator.
    init(group: String, requestsTopic: String) { self.init(fleet: "\(group)/\(requestsTopic)") }
}
