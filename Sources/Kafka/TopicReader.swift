internal import CRdkafka
public import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads topics without joining a group: for tools that show what goes by. Commits nothing.
/// Every call waits on a thread of its own, never on the caller's. Calls one after another; safe from any thread.
public final class TopicReader: Sendable {
    /// Where to begin in every partition.
    public enum Start: Sendable, Hashable {
        /// With the oldest record there is.
        case beginning
        /// With what comes after `open` has returned.
        case end
    }

    private let client: Shared
    private let clientLog: ClientLog
    private let blocking = BlockingThread("topic-reader")

    /// - Parameter configuration: the group's name is not used; nothing is asked of the group.
    /// - Throws: `configuration` that names the property.
    public init(_ configuration: ConsumerConfiguration, log: Logger) throws(KafkaError) {
        var configuration = configuration
        configuration.groupInstanceID = nil
        clientLog = ClientLog(log, hiding: configuration.secrets)
        client = Shared(
            pointer: try ClientSettings.makeClient(
                RD_KAFKA_CONSUMER, configuration.librdkafka(.running), events: 0, log: clientLog))
        rd_kafka_poll_set_consumer(client.pointer)
    }

    deinit {
        // Destroying waits for librdkafka's threads: elsewhere, so that nobody's task is held up.
        let (client, log) = (client, clientLog)
        Task.detached {
            rd_kafka_destroy(client.pointer)
            withExtendedLifetime(log) {}
        }
    }

    /// Looks the topics' partitions up and begins to read them.
    /// - Parameter bound: for the broker's answers. Topics that do not exist are made by brokers that make topics.
    /// - Throws: `unreachable`, `unknownTopicOrPartition`.
    public func open(_ topics: [String], at start: Start, within bound: Duration) async throws(KafkaError) {
        let (client, deadline) = (client, ContinuousClock.now + bound)
        let result: Result<Void, KafkaError> = await blocking.run {
            do throws(KafkaError) {
                var positions: [(TopicPartition, offset: Int64)] = []
                for topic in topics {
                    for partition in try Self.partitions(of: topic, client.pointer, before: deadline) {
                        let offset = try Self.offset(of: partition, start, client.pointer, before: deadline)
                        positions.append((partition, offset: offset))
                    }
                }
                let list = PartitionList(positions)
                let code = rd_kafka_assign(client.pointer, list.pointer)
                if code != RD_KAFKA_RESP_ERR_NO_ERROR { throw KafkaError(code, doing: "reading \(topics)") }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Returns what is there as soon as one record is, at most `max`.
    /// - Returns: empty when the time was up.
    public func records(max: Int, within bound: Duration) async throws(KafkaError) -> [ConsumerRecord] {
        let client = client
        let result: Result<[ConsumerRecord], KafkaError> = await blocking.run {
            var records: [ConsumerRecord] = []
            var wait = Int32(bound.wholeMilliseconds)
            while records.count < max, let message = rd_kafka_consumer_poll(client.pointer, wait) {
                wait = 0
                defer { rd_kafka_message_destroy(message) }
                let code = message.pointee.err
                guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                    let error = KafkaError(code, doing: "reading")
                    // A broker that is away comes back, or does not: the caller's own patience decides.
                    if error.kind == .unreachable || error.kind == .retriable || error.kind == .timedOut { break }
                    return .failure(error)
                }
                let id = TopicPartition(
                    String(cString: rd_kafka_topic_name(message.pointee.rkt)), message.pointee.partition)
                records.append(ConsumerRecord(copying: message, of: AssignedPartition(id, epoch: 0)))
            }
            return .success(records)
        }
        return try result.get()
    }

    /// Where each partition of a topic begins and ends now: its oldest offset, and one past its newest.
    /// - Throws: `unreachable`, `unknownTopicOrPartition`.
    public func bounds(
        of topic: String, within bound: Duration
    ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
        let (client, deadline) = (client, ContinuousClock.now + bound)
        let result: Result<[TopicPartition: Range<Int64>], KafkaError> = await blocking.run {
            do throws(KafkaError) {
                var bounds: [TopicPartition: Range<Int64>] = [:]
                for partition in try Self.partitions(of: topic, client.pointer, before: deadline) {
                    bounds[partition] = try Self.bounds(of: partition, client.pointer, before: deadline)
                }
                return .success(bounds)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        Int32(clamping: max(1, (deadline - .now).wholeMilliseconds))
    }

    private static func partitions(
        of topic: String, _ client: OpaquePointer, before deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> [TopicPartition] {
        guard let handle = rd_kafka_topic_new(client, topic, nil) else {
            throw KafkaError(rd_kafka_last_error(), doing: "look up topic \(topic)")
        }
        defer { rd_kafka_topic_destroy(handle) }
        while true {
            var metadata: UnsafePointer<rd_kafka_metadata>?
            let code = rd_kafka_metadata(client, 0, handle, &metadata, milliseconds(until: deadline))
            defer { if let metadata { rd_kafka_metadata_destroy(metadata) } }
            if code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata, metadata.pointee.topic_cnt == 1,
                let found = metadata.pointee.topics?.pointee, found.err == RD_KAFKA_RESP_ERR_NO_ERROR,
                found.partition_cnt > 0
            {
                return (0..<found.partition_cnt).map { TopicPartition(topic, found.partitions[Int($0)].id) }
            }
            let about = metadata?.pointee.topics?.pointee.err ?? code
            guard ContinuousClock.now < deadline else {
                throw KafkaError(
                    code == RD_KAFKA_RESP_ERR_NO_ERROR ? about : RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
                    doing: "look up topic \(topic)")
            }
            // A topic that is just being made has no leader yet.
            Self.pause(milliseconds: 100)
        }
    }

    private static func offset(
        of partition: TopicPartition, _ start: Start, _ client: OpaquePointer, before deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> Int64 {
        guard start == .end else { return Int64(RD_KAFKA_OFFSET_BEGINNING) }
        return try bounds(of: partition, client, before: deadline).upperBound
    }

    private static func bounds(
        of partition: TopicPartition, _ client: OpaquePointer, before deadline: ContinuousClock.Instant
    ) throws(KafkaError) -> Range<Int64> {
        while true {
            var (low, high) = (Int64(0), Int64(0))
            let code = rd_kafka_query_watermark_offsets(
                client, partition.topic, partition.partition, &low, &high, milliseconds(until: deadline))
            if code == RD_KAFKA_RESP_ERR_NO_ERROR { return low..<max(low, high) }
            guard ContinuousClock.now < deadline else { throw KafkaError(code, doing: "find the end of \(partition)") }
            Self.pause(milliseconds: 100)
        }
    }

    private static func pause(milliseconds: Int) {
        var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
        nanosleep(&time, nil)
    }
}
