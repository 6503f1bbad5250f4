public import EventLoop
public import Kafka
public import Logging
package import QuotaSharing

/// A reader as `FleetLink` needs it, which is freed with its last reference. `TopicReader` is the real one.
public protocol FleetTopicReader: Sendable {
    /// Returns the first and the last offset of each partition of a topic now.
    /// - Throws: `unreachable`, `timedOut`, `unknownTopicOrPartition`, `authentication`.
    func bounds(
        of topic: String, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>]

    /// Begins to read each partition at an offset that is there.
    func open(_ starts: [TopicPartition: Int64]) async throws(KafkaError)

    /// Returns the next records as soon as there are any, at most `max`; empty when the time was up.
    /// - Throws: `recordsMissing` where the next record was deleted before it was read, `unknownTopicOrPartition` when the
    ///   topic was deleted.
    func news(max: Int, within bound: Duration) async throws(KafkaError) -> TopicReader.News
}

/// A producer as `FleetLink` needs it. `KafkaProducer` is the real one.
public protocol FleetTopicWriter: Sendable {
    /// Puts a record into the local queue, in the order of the calls.
    /// - Returns: a receipt, good for one `confirm`. Each must be confirmed.
    func handOver(_ record: ProducerRecord) async throws(KafkaError) -> KafkaProducer.Receipt

    /// Returns once the brokers have confirmed the record.
    func confirm(_ receipt: KafkaProducer.Receipt) async throws(KafkaError) -> RecordPosition

    /// Frees the client. Records that are not confirmed by then end as `closed`.
    func close() async
}

extension TopicReader: FleetTopicReader {}
extension KafkaProducer: FleetTopicWriter {}

/// Makes the link's clients, each time that a failed client needs a successor.
public struct FleetTopicClients: Sendable {
    /// A message that has not been written by then is too old to be of use.
    package static let writingTime = Duration.seconds(5)

    /// The reader must read every record, or report that some are missing.
    public var makeReader: @Sendable () throws(KafkaError) -> any FleetTopicReader
    public var makeWriter: @Sendable () throws(KafkaError) -> any FleetTopicWriter
    /// Decodes a record's message; `nil` for a record without one.
    package var decode: @Sendable ([UInt8]) -> FleetMessage? = FleetCodec.message

    public init(
        makeReader: @escaping @Sendable () throws(KafkaError) -> any FleetTopicReader,
        makeWriter: @escaping @Sendable () throws(KafkaError) -> any FleetTopicWriter
    ) {
        self.makeReader = makeReader
        self.makeWriter = makeWriter
    }
}

extension FleetTopicClients {
    /// Makes clients of a cluster: readers that belong to no group, and producers that send each message at once.
    /// - Parameters:
    ///   - consumer: its group is not used.
    ///   - loop: where the producers live.
    public static func kafka(
        consumer: ConsumerConfiguration, producer: ProducerConfiguration, loop: EventLoop, log: Logger
    ) -> FleetTopicClients {
        var (reading, writing) = (consumer, producer)
        reading.statisticsInterval = nil
        writing.linger = .zero
        writing.busyLinger = .zero
        writing.transactionalID = nil
        writing.statisticsInterval = nil
        writing.properties["message.timeout.ms"] = "\(writingTime.milliseconds(roundedUp: false))"

        return FleetTopicClients(
            makeReader: { [reading] () throws(KafkaError) in
                try TopicReader(reading, mode: .everyRecord, log: log)
            },
            makeWriter: { [writing] () throws(KafkaError) in
                try KafkaProducer(loop: loop, configuration: writing, log: log)
            })
    }
}
