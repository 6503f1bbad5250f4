package import EventLoop
package import Kafka
package import Logging
package import QuotaSharing

/// The reader interface that `FleetLink` uses. The client is freed with its last reference. `TopicReader` implements
/// it.
package protocol FleetTopicReader: Sendable {
    /// Returns the current offset range of each partition of a topic.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`.
    func bounds(of topic: String, within bound: Duration) async throws(KafkaError) -> [TopicPartition: Range<Int64>]

    /// Begins to read each partition at an existing offset.
    func open(_ starts: [TopicPartition: Int64]) async throws(KafkaError)

    /// Returns at most `max` records as soon as there are any; none if `bound` passes first.
    /// - Throws: `recordsMissing` if the next record was deleted before it was read, `unknownTopicOrPartition` if the
    ///   topic was deleted.
    func news(max: Int, within bound: Duration) async throws(KafkaError) -> TopicReader.News
}

/// The producer interface that `FleetLink` uses. `KafkaProducer` implements it.
package protocol FleetTopicWriter: Sendable {
    /// Enqueues a record locally, in the order of the calls.
    /// - Returns: a receipt for exactly one `confirm`. Every receipt must be confirmed.
    func handOver(_ record: ProducerRecord) async throws(KafkaError) -> KafkaProducer.Receipt

    /// Returns once the brokers have acknowledged the record.
    func confirm(_ receipt: KafkaProducer.Receipt) async throws(KafkaError) -> RecordPosition

    /// Frees the client. Records that are unconfirmed by then fail with `closed`.
    func close() async
}

extension TopicReader: FleetTopicReader {}
extension KafkaProducer: FleetTopicWriter {}

/// Makes the link's clients, and their replacements after failures.
package struct FleetTopicClients: Sendable {
    /// The time after which an unwritten message is too old to be useful.
    package static let writingTime = Duration.seconds(5)

    /// Makes a reader that reads every record, or reports that some are missing.
    package var makeReader: @Sendable () throws(KafkaError) -> any FleetTopicReader
    package var makeWriter: @Sendable () throws(KafkaError) -> any FleetTopicWriter
    package let codec: FleetCodec
    /// Decodes a record's message; `nil` for a record without a message.
    package var decode: @Sendable ([UInt8]) -> FleetMessage?

    package init(
        _ codec: FleetCodec,
        makeReader: @escaping @Sendable () throws(KafkaError) -> any FleetTopicReader,
        makeWriter: @escaping @Sendable () throws(KafkaError) -> any FleetTopicWriter
    ) {
        self.codec = codec
        decode = codec.message
        self.makeReader = makeReader
        self.makeWriter = makeWriter
    }
}

extension FleetTopicClients {
    /// Makes clients of a cluster: readers without a consumer group, and producers that send each message at once.
    /// - Parameters:
    ///   - consumer: the connection settings; its group is not used.
    ///   - loop: the loop of the producers.
    package static func kafka(
        _ codec: FleetCodec, consumer: ConsumerConfiguration, producer: ProducerConfiguration, loop: EventLoop,
        log: Logger
    ) -> FleetTopicClients {
        var (reading, writing) = (consumer, producer)
        reading.statisticsInterval = nil
        writing.linger = .zero
        writing.busyLinger = .zero
        writing.transactionalID = nil
        writing.statisticsInterval = nil
        writing.properties["message.timeout.ms"] = "\(writingTime.milliseconds(roundedUp: false))"

        return FleetTopicClients(
            codec,
            makeReader: { [reading] () throws(KafkaError) in
                try TopicReader(reading, mode: .everyRecord, log: log)
            },
            makeWriter: { [writing] () throws(KafkaError) in
                try KafkaProducer(loop: loop, configuration: writing, log: log)
            })
    }
}
