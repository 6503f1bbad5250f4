package import Kafka
internal import SimulatedKafka

/// A producer that behaves as `KafkaProducer` with librdkafka does: idempotent, with one batch of each partition in flight at a time.
///
/// Differences from the original: docs/internals/simulation.md.
package final class SimulatedProducer {
    /// A record that is unconfirmed.
    final class Entry {
        let record: ProducerRecord
        let end: Int64
        let report: (KafkaProducer.Report) -> Void
        var status = KafkaError.Status.notPersisted

        init(_ record: ProducerRecord, end: Int64, report: @escaping (KafkaProducer.Report) -> Void) {
            self.record = record
            self.end = end
            self.report = report
        }
    }

    /// The queue of one partition.
    final class Lane {
        let id: PartitionID
        var queue: [Entry] = []
        /// The batch in flight, or to be sent again unchanged; empty: none.
        var batch: [Entry] = []
        var isUnderway = false
        /// The sequence number of the first record of the batch, or of the next one.
        var sequence: Int32 = 0
        var notBefore: Int64 = 0
        /// True if the partition is part of the open transaction.
        var isInTransaction = false
        var isTimerSet = false

        init(_ id: PartitionID) { self.id = id }
    }

    package let settings: SimulatedProducerSettings
    let link: ClientLink
    var identity = ProducerIdentity.none
    var isGettingIdentity = false
    var lanes: [PartitionID: Lane] = [:]
    /// Records whose topic's partitions are not known yet, in order.
    var unplaced: [Entry] = []
    private var nextPartition: [String: Int32] = [:]
    private var isLookingUp = false
    var transaction = TransactionClient()
    /// Called with each answer to transaction offsets. If it returns `true`, the answer is dropped and the call never returns.
    ///
    /// librdkafka behaves so if it treats the answer as outdated.
    package var dropsAnswer: () -> Bool = { false }
    private(set) var isClosed = false

    package private(set) var undelivered = 0
    private var roomWaiters: [() -> Void] = []
    private var flushWaiters: [() -> Void] = []

    /// The fatal error of the client; `nil` while it works.
    package private(set) var failure: KafkaError?

    package init(_ settings: SimulatedProducerSettings, clientID: String, network: SimulatedNetwork) {
        self.settings = settings
        link = ClientLink(id: clientID, network: network)
    }

    var now: Int64 { link.now }
    var isTransactional: Bool { settings.transactionalID != nil }
    private static var closed: KafkaError { KafkaError(.closed, "the Kafka client is closed") }

    // MARK: - Enqueuing

    /// Enqueues a record if there is room.
    /// - Parameter report: Called once with the delivery report, never before this returns.
    /// - Returns: `false` if it is not enqueued: `refusal` returns the reason, or there is no room.
    package func handOverAtOnce(
        _ record: ProducerRecord, report: @escaping (KafkaProducer.Report) -> Void
    ) -> Bool {
        guard refusal(of: record) == nil, undelivered < settings.queueRecords else { return false }
        undelivered += 1
        let entry = Entry(record, end: now + settings.recordTimeout, report: report)
        link.after(settings.recordTimeout) { [weak self] in self?.expire() }
        place(entry)
        return true
    }

    /// Returns why a record cannot be enqueued, apart from lack of room.
    package func refusal(of record: ProducerRecord) -> KafkaError? {
        if isClosed { return failure ?? Self.closed }
        if let failure { return failure }
        let what = "produce to \(record.topic)"
        let size = (record.key?.count ?? 0) + (record.value?.count ?? 0)
        if size > settings.maxRecordBytes {
            return KafkaError(librdkafkaCode: Int32(ErrorCode.messageTooLarge.rawValue), doing: what)
        }
        if isTransactional, transaction.state != .open {
            return KafkaError(librdkafkaCode: LibraryCode.state, doing: what)
        }
        return nil
    }

    /// Calls back once there may be room for a record, or the client has ended.
    package func whenThereIsRoom(_ body: @escaping () -> Void) {
        if undelivered < settings.queueRecords || isClosed { return body() }
        roomWaiters.append(body)
    }

    /// Waits until no record is unconfirmed.
    package func flush(within bound: Int64, reply: @escaping (Bool) -> Void) {
        guard undelivered > 0, !isClosed else { return reply(undelivered == 0) }
        var isOver = false
        let finish = { [weak self] in
            guard !isOver else { return }
            isOver = true
            reply((self?.undelivered ?? 0) == 0)
        }
        flushWaiters.append(finish)
        link.after(bound, finish)
        for lane in inOrder { send(lane, isFlushing: true) }
    }

    /// Frees the client. Unconfirmed records end as `closed`.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        link.isClosed = true
        let all = unplaced + inOrder.flatMap { $0.batch + $0.queue }
        unplaced = []
        lanes = [:]
        for entry in all { finish(entry, .failure(Self.closed)) }
        transaction.end(with: Self.closed)
        wake()
    }

    /// Ends the client at once, as kill -9 does, without delivery reports.
    package func kill() {
        link.network.disconnect(link.id)
        link.isClosed = true
        isClosed = true
        (lanes, unplaced) = ([:], [])
    }

    // MARK: - Partitions

    var inOrder: [Lane] { lanes.values.sorted { $0.id < $1.id } }

    private func place(_ entry: Entry) {
        guard let lane = lane(for: entry.record) else {
            unplaced.append(entry)
            return lookUpTopics()
        }
        lane.queue.append(entry)
        send(lane, isFlushing: lane.queue.count >= settings.batchRecords)
    }

    private func lane(for record: ProducerRecord) -> Lane? {
        guard let count = link.partitionCounts[record.topic], count > 0 else { return nil }
        let number = record.partition ?? choose(for: record, of: count)
        guard number < count else { return nil }
        let id = PartitionID(record.topic, number)
        if let lane = lanes[id] { return lane }
        let lane = Lane(id)
        lanes[id] = lane
        return lane
    }

    /// Records of one key go to one partition; the others are distributed round-robin.
    private func choose(for record: ProducerRecord, of count: Int32) -> Int32 {
        if let key = record.key {
            let hash = key.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
            return Int32(hash % UInt32(count))
        }
        let next = nextPartition[record.topic, default: 0]
        nextPartition[record.topic] = (next + 1) % count
        return next % count
    }

    func lookUpTopics() {
        let known = Set(lanes.keys.map(\.topic)).union(unplaced.map(\.record.topic))
        guard !isLookingUp, !known.isEmpty, !isClosed else { return }
        isLookingUp = true
        link.refresh(known.sorted()) { [weak self] _ in
            guard let self else { return }
            isLookingUp = false
            let waiting = unplaced
            unplaced = []
            for entry in waiting {
                guard let lane = lane(for: entry.record) else {
                    unplaced.append(entry)
                    continue
                }
                lane.queue.append(entry)
            }
            // If a partition has no leader, the next look-up waits a little, as in librdkafka.
            for lane in inOrder where link.leaders[lane.id] != nil { send(lane, isFlushing: true) }
            let isLeaderless = inOrder.contains { lane in
                link.leaders[lane.id] == nil && !(lane.batch.isEmpty && lane.queue.isEmpty)
            }
            // A topic that was not looked up yet is looked up at once.
            if unplaced.contains(where: { !known.contains($0.record.topic) }) { return lookUpTopics() }
            if !unplaced.isEmpty || isLeaderless {
                link.after(ClientLink.backoff) { [weak self] in self?.lookUpTopics() }
            }
        }
    }

    // MARK: - Reports

    func finish(_ entry: Entry, _ report: KafkaProducer.Report) {
        undelivered -= 1
        entry.report(report)
    }

    func finish(_ entry: Entry, code: Int32, doing what: String = "delivery") {
        let error = failure ?? KafkaError(librdkafkaCode: code, doing: what)
        finish(entry, .failure(error.with(entry.status)))
    }

    func wake() {
        if undelivered == 0 || isClosed {
            let waiters = flushWaiters
            flushWaiters = []
            for waiter in waiters { waiter() }
        }
        while undelivered < settings.queueRecords || isClosed, !roomWaiters.isEmpty { roomWaiters.removeFirst()() }
    }

    /// Ends records whose deadline has passed. One that was sent may be in the log; the following ones then need a new identity.
    private func expire() {
        guard !isClosed else { return }
        let late = { (entry: Entry) in entry.end <= self.now }
        let unsent = unplaced.filter(late) + inOrder.flatMap { $0.queue.filter(late) }
        unplaced.removeAll(where: late)
        for lane in lanes.values { lane.queue.removeAll(where: late) }
        for lane in inOrder {
            guard !lane.batch.isEmpty, !lane.isUnderway, lane.batch.allSatisfy(late) else { continue }
            let batch = lane.batch
            lane.batch = []
            renewIdentity()
            for entry in batch { finish(entry, code: LibraryCode.messageTimedOut) }
            if isTransactional { failTransaction(LibraryCode.messageTimedOut, needsNewEpoch: true) }
        }
        for entry in unsent { finish(entry, code: LibraryCode.messageTimedOut) }
        if !unsent.isEmpty, isTransactional { failTransaction(LibraryCode.messageTimedOut, needsNewEpoch: false) }
        wake()
    }

    /// Fails the client permanently. Reports everything unconfirmed, with its known status.
    func fail(_ error: KafkaError) {
        guard failure == nil else { return }
        failure = error
        let all = unplaced + inOrder.flatMap { $0.batch + $0.queue }
        unplaced = []
        for lane in lanes.values { (lane.batch, lane.queue) = ([], []) }
        for entry in all { finish(entry, code: LibraryCode.fatal) }
        transaction.end(with: error)
        wake()
    }
}
