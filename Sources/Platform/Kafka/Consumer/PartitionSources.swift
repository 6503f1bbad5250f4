internal import DequeModule

/// The partitions assigned to one consumer, and fair reading from their queues. Belongs to the consumer's actor.
final class PartitionSources {
    /// The number that the client's signal uses for the main queue; no partition has it.
    static let mainQueueNumber = UInt32.max

    /// All partitions, in the order of their assignment.
    private(set) var inOrder: [PartitionSource] = []
    /// The offsets without a record at the ends that were reached. The consumer takes them after each read.
    var gaps: [AssignedPartition: Range<Int64>] = [:]
    /// The partitions that may have records, in the order in which they are read, so that a read does not visit all.
    private var toRead: Deque<PartitionSource> = []
    private let client: ClientHandle
    private var sources: [UInt32: PartitionSource] = [:]
    private var numbers: [TopicPartition: UInt32] = [:]
    private var nextNumber: UInt32 = 0
    private var epoch: UInt32 = 0

    init(_ client: ClientHandle) { self.client = client }

    // MARK: - Lookup

    /// Returns a partition, or `nil` if its assignment has ended.
    func source(_ partition: AssignedPartition) -> PartitionSource? {
        guard let source = source(partition.id), source.partition.epoch == partition.epoch else { return nil }
        return source
    }

    func source(_ id: TopicPartition) -> PartitionSource? { numbers[id].flatMap { sources[$0] } }

    func source(signalledAs number: UInt32) -> PartitionSource? { sources[number] }

    // MARK: - Assignments

    /// Adds newly assigned partitions, under a new epoch.
    /// - Returns: The sources of the partitions that librdkafka knows.
    func add(_ ids: [TopicPartition]) -> [PartitionSource] {
        guard !ids.isEmpty else { return [] }
        epoch += 1

        var added: [PartitionSource] = []
        for id in ids {
            // Both sources share librdkafka's queue, so the old one must not disconnect the new one's signal.
            if let old = source(id) { remove(old) }
            let number = takeNumber()
            guard let queue = PartitionQueue(of: id, client: client, signalledAs: number) else { continue }

            let source = PartitionSource(AssignedPartition(id, epoch: epoch), number: number, queue: queue)
            sources[number] = source
            numbers[id] = number
            added.append(source)
        }

        inOrder = sources.values.sorted { $0.number < $1.number }
        return added
    }

    private func takeNumber() -> UInt32 {
        defer { nextNumber = nextNumber == Self.mainQueueNumber - 1 ? 0 : nextNumber + 1 }
        return nextNumber
    }

    /// Removes partitions and releases their queues.
    func remove(_ gone: [PartitionSource]) {
        for source in gone { remove(source) }
        inOrder = sources.values.sorted { $0.number < $1.number }
    }

    private func remove(_ source: PartitionSource) {
        guard sources.removeValue(forKey: source.number) != nil else { return }
        if numbers[source.partition.id] == source.number { numbers[source.partition.id] = nil }
        source.isReadable = false
        source.queue.close()
    }

    // MARK: - Reading

    func begin(_ source: PartitionSource, at start: ReadingStart) {
        source.begin(at: start)
        noteRecords(of: source)
    }

    /// Has the next read visit a partition.
    func noteRecords(of source: PartitionSource) {
        guard !source.mayHaveRecords else { return }
        source.mayHaveRecords = true
        toRead.append(source)
    }

    /// Takes available records, up to `max`, fairly over the partitions.
    /// - Parameter report: Called for each error that a queue held instead of a record.
    func takeRecords(max: Int, report: (KafkaError) -> Void) -> [ConsumerRecord] {
        var records: [ConsumerRecord] = []
        // Limits each partition per round, so that a full one cannot starve the others.
        let share = Swift.max(1, max / Swift.max(1, toRead.count))
        while records.count < max, let source = toRead.popFirst() {
            let limit = min(share, max - records.count)
            source.mayHaveRecords = false
            if take(from: source, upTo: limit, into: &records, report: report) == limit { noteRecords(of: source) }
        }
        return records
    }

    private func take(
        from source: PartitionSource, upTo limit: Int, into records: inout [ConsumerRecord],
        report: (KafkaError) -> Void
    ) -> Int {
        guard !source.isHeld, source.isReadable, !source.awaitsStart else { return 0 }

        let id = source.partition.id
        var taken = 0
        while taken < limit {
            do throws(KafkaError) {
                guard let record = try source.next(isReset: { client.wasReset(id, beyond: $0) }) else { break }
                records.append(record)
                taken += 1
            } catch {
                report(error)
            }
        }
        if let gap = source.takeGap() { gaps[source.partition] = gap }
        return taken
    }
}
