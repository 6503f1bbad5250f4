/// The log of one partition: its records, the limits for readers, and its state of producers.
final class PartitionLog {
    let id: PartitionID
    var leader: Int32
    var leaderEpoch: Int32 = 0
    /// The number of replicas in sync.
    var inSyncReplicas: Int

    /// In the order of their offsets. Retention, compaction and markers leave gaps between the visible records.
    private(set) var entries: [LogEntry] = []
    private(set) var logStart: Int64 = 0
    private(set) var logEnd: Int64 = 0
    /// The end of the records that all replicas have. Readers see nothing beyond it.
    private(set) var highWatermark: Int64 = 0
    /// True while the other replicas copy nothing, so that the high watermark stays.
    var isReplicationHeld = false { didSet { replicate() } }

    private(set) var producers: [Int64: ProducerState] = [:]
    /// Aborted transactions, in the order of their markers.
    private(set) var aborted: [AbortedTransaction] = []
    /// Ended transactions whose marker is not on all replicas yet.
    private var unreplicatedEnds: [(first: Int64, marker: Int64)] = []

    init(_ id: PartitionID, leader: Int32, replicas: Int) {
        self.id = id
        self.leader = leader
        inSyncReplicas = replicas
    }

    /// The first offset of the oldest open transaction, or the high watermark. All transactions below it are decided.
    var lastStableOffset: Int64 {
        // Computed at every fetch, so it makes no arrays.
        var end = highWatermark
        for state in producers.values { end = min(end, state.transactionStart ?? end) }
        for ended in unreplicatedEnds { end = min(end, ended.first) }
        return end
    }

    /// Returns the offset below which a reader may read.
    func end(for isolation: FetchRequest.Isolation) -> Int64 {
        isolation == .readCommitted ? lastStableOffset : highWatermark
    }

    // MARK: - Writing

    /// Appends a batch that has passed all checks.
    /// - Returns: The offset of its first record.
    func append(_ batch: ProduceRequest.Batch, rules: ClusterRules, now: Int64) -> Int64 {
        let first = logEnd
        for record in batch.records {
            var record = record
            record.timestamp = record.timestamp ?? now
            entries.append(
                LogEntry(
                    offset: logEnd, record: record, leaderEpoch: leaderEpoch, producerID: batch.producer.id,
                    producerEpoch: batch.producer.epoch, isTransactional: batch.isTransactional))
            logEnd += 1
        }
        if batch.producer.id >= 0 {
            producers[batch.producer.id, default: ProducerState()]
                .append(batch, at: first, remembering: rules.rememberedBatches, now: now)
        }
        replicate()
        return first
    }

    /// Ends the transaction of a producer. The marker takes an offset, whether or not the transaction wrote anything here.
    func appendMarker(
        _ result: TransactionResult, of producer: ProducerIdentity, coordinatorEpoch: Int32, now: Int64
    ) -> ErrorCode {
        var state = producers[producer.id] ?? ProducerState()
        if producer.epoch < state.epoch { return .invalidProducerEpoch }
        if coordinatorEpoch < state.coordinatorEpoch { return .transactionCoordinatorFenced }

        let marker = logEnd
        entries.append(
            LogEntry(
                offset: marker, record: SimulatedRecord(value: nil, timestamp: now), leaderEpoch: leaderEpoch,
                producerID: producer.id, producerEpoch: producer.epoch, isTransactional: true, marker: result))
        logEnd += 1

        if let first = state.transactionStart {
            unreplicatedEnds.append((first, marker))
            if result == .abort {
                aborted.append(AbortedTransaction(producerID: producer.id, firstOffset: first, lastOffset: marker))
            }
        }
        if producer.epoch != state.epoch { state.batches = [] }
        state.epoch = producer.epoch
        state.coordinatorEpoch = coordinatorEpoch
        state.transactionStart = nil
        state.lastTimestamp = now
        producers[producer.id] = state
        replicate()
        return .none
    }

    private func replicate() {
        if !isReplicationHeld { highWatermark = logEnd }
        let watermark = highWatermark
        unreplicatedEnds.removeAll { $0.marker < watermark }
    }

    /// Moves the leadership to another replica. Records that were not on all replicas are lost.
    func failOver(to broker: Int32) {
        leader = broker
        leaderEpoch += 1
        guard logEnd > highWatermark else { return }

        // The new leader derives the state of producers from the records that are left in the log.
        entries.removeAll { $0.offset >= highWatermark }
        logEnd = highWatermark
        aborted.removeAll { $0.lastOffset >= highWatermark }
        unreplicatedEnds = []
        rebuildProducers()
    }

    private func rebuildProducers() {
        let before = producers
        producers = [:]
        for (id, old) in before {
            var state = old
            state.batches.removeAll { $0.firstOffset >= highWatermark }
            state.transactionStart = openTransaction(of: id)
            let isKnown = !state.batches.isEmpty || entries.contains { $0.producerID == id }
            if isKnown { producers[id] = state }
        }
    }

    private func openTransaction(of producer: Int64) -> Int64? {
        var first: Int64?
        for entry in entries where entry.producerID == producer && entry.isTransactional {
            if entry.marker != nil { first = nil } else if first == nil { first = entry.offset }
        }
        return first
    }

    func forgetProducers(idleSince time: Int64) {
        for (id, state) in producers where state.transactionStart == nil && state.lastTimestamp <= time {
            producers[id] = nil
        }
    }

    // MARK: - Reading

    /// Returns the entries from an offset on, up to a size. The first record always fits.
    func read(from offset: Int64, to end: Int64, maxBytes: Int) -> [LogEntry] {
        var found: [LogEntry] = []
        var bytes = 0
        for entry in entries[position(of: offset)...] where entry.offset < end {
            bytes += entry.record.size
            if bytes > maxBytes, !found.isEmpty { break }
            found.append(entry)
        }
        return found
    }

    /// Returns the aborted transactions that reach into a range of offsets.
    func aborted(from offset: Int64, to end: Int64) -> [AbortedTransaction] {
        aborted.filter { $0.lastOffset >= offset && $0.firstOffset < end }
    }

    /// Returns true if there is an entry at an offset.
    func holds(_ offset: Int64) -> Bool {
        let position = position(of: offset)
        return position < entries.count && entries[position].offset == offset
    }

    /// Returns the index of the first entry at or after an offset.
    private func position(of offset: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: - Deleting

    /// Deletes the records below an offset, at most up to the high watermark.
    func deleteRecords(before offset: Int64) {
        logStart = max(logStart, min(offset, highWatermark))
        let start = logStart
        entries.removeAll { $0.offset < start }
        aborted.removeAll { $0.lastOffset < start }
    }

    /// Deletes the records that are older than the topic's retention. The newest record stays, as Kafka's active segment does.
    func deleteRecords(olderThan time: Int64) {
        guard let newest = entries.last?.offset,
            let kept = entries.first(where: { ($0.record.timestamp ?? .max) >= time || $0.offset == newest })
        else { return }
        if kept.offset > logStart { deleteRecords(before: min(kept.offset, lastStableOffset)) }
    }

    /// Keeps the newest record of each key, among the decided records, and all markers. Tombstones may be removed too.
    func compact(removingTombstones: Bool) {
        let end = lastStableOffset
        let abortedRanges = aborted
        let isAborted = { (entry: LogEntry) in
            abortedRanges.contains {
                $0.producerID == entry.producerID && entry.isTransactional && $0.firstOffset <= entry.offset
                    && entry.offset <= $0.lastOffset
            }
        }

        var newest: [[UInt8]: Int64] = [:]
        for entry in entries where entry.offset < end && entry.marker == nil && !isAborted(entry) {
            if let key = entry.record.key { newest[key] = entry.offset }
        }
        entries.removeAll { entry in
            guard entry.offset < end, entry.marker == nil, let key = entry.record.key else { return false }
            if isAborted(entry) { return true }
            if newest[key] != entry.offset { return true }
            return removingTombstones && entry.record.value == nil
        }
    }
}
