import Basics
import EventLoop
import Kafka
import SimulatedKafkaClients
import WorkerRuntime

/// A simulated producer as a lane's sink, on the lane's loop. It does what `KafkaProducer` does around librdkafka.
final class SimulatedSink: OutcomeSink, @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    private struct Handed {
        var report: KafkaProducer.Report?
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// The same limits as in `TransactionCalls`: the time for a call, how far a call may exceed it, and the number of attempts.
    private static let (usualTime, timeToInitialize) = (Duration.seconds(10), Duration.seconds(30))
    private static let (overtime, overtimeAtEnd) = (Duration.seconds(5), Duration.seconds(1))
    private static let shortestTime = Duration.milliseconds(100)
    private static let maxAttempts = 5

    private let loop: EventLoop
    private let inbox: LoopInbox
    private let producer: SimulatedProducer
    private let group: String
    private var handed: [Int: Handed] = [:]
    private var nextSlot = 0
    private var endOfTransactions: Instant?
    /// True from `beginTransaction` to the end of `commitTransaction` or `abortTransaction`.
    private(set) var isTransactionOpen = false
    /// True while offsets are sent or the transaction is committed.
    private(set) var isCommitting = false
    /// The time at which a call was made that never returned.
    private(set) var hungSince: Instant?
    /// The time at which the transactional id was registered.
    private(set) var readySince: Instant?

    init(_ producer: SimulatedProducer, group: String, loop: EventLoop, inbox: LoopInbox) {
        self.producer = producer
        self.group = group
        self.loop = loop
        self.inbox = inbox
    }

    /// Ends the client as kill -9 does.
    func kill() { producer.kill() }

    func start() async { inbox.start() }

    // MARK: - Records

    func handOverAtOnce(_ record: ProducerRecord, report: @escaping (KafkaProducer.Report) -> Void) -> Bool {
        guard loop.isCurrent else { return false }
        inbox.start()
        return producer.handOverAtOnce(record) { [inbox] result in inbox.post { report(result) } }
    }

    func handOver(_ record: ProducerRecord) async throws(KafkaError) -> KafkaProducer.Receipt {
        inbox.start()
        while true {
            if let refusal = producer.refusal(of: record) { throw refusal }
            let slot = nextSlot
            let isTaken = producer.handOverAtOnce(record) { [weak self] result in
                self?.inbox.post { self?.take(result, slot) }
            }
            if isTaken {
                nextSlot += 1
                handed[slot] = Handed()
                return KafkaProducer.Receipt(slot: slot)
            }
            await withCheckedContinuation { continuation in producer.whenThereIsRoom { continuation.resume() } }
        }
    }

    private func take(_ report: KafkaProducer.Report, _ slot: Int) {
        handed[slot]?.report = report
        handed[slot]?.waiter?.resume()
        handed[slot]?.waiter = nil
    }

    func confirm(_ receipt: KafkaProducer.Receipt) async throws(KafkaError) -> RecordPosition {
        let slot = receipt.slot
        if handed[slot]?.report == nil { await withCheckedContinuation { handed[slot]?.waiter = $0 } }
        guard let report = handed.removeValue(forKey: slot)?.report else {
            throw KafkaError(.closed, "the Kafka client is closed")
        }
        return try report.get()
    }

    var undelivered: Int { get async { producer.undelivered } }
    var statistics: ClientStatistics? { nil }

    func flush(within bound: Duration) async -> Bool {
        var (isEmpty, bound) = (false, bound)
        if producer.settings.transactionalID != nil {
            bound = min(bound, .nanoseconds(producer.settings.transactionTimeout) / 2)
        }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            producer.flush(within: bound.wholeNanoseconds) { result in
                isEmpty = result
                continuation.resume()
            }
        }
        // Delivery reports of flushed records arrive through the inbox, as librdkafka's arrive through its queue.
        await loop.pause(.milliseconds(1))
        return isEmpty
    }

    func close() async {
        producer.close()
        await loop.pause(.milliseconds(1))
    }

    // MARK: - Transactions

    func initTransactions() async throws(KafkaError) {
        try await call(isInitialization: true) { self.producer.initTransactions(within: $0, reply: $1) }
        readySince = loop.now
    }

    func beginTransaction() async throws(KafkaError) {
        if let error = producer.beginTransaction() { throw error }
        isTransactionOpen = true
    }

    func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as member: GroupMembership
    ) async throws(KafkaError) {
        isCommitting = true
        defer { isCommitting = false }
        try await call { bound, reply in
            self.producer.sendOffsets(offsets, as: member, group: self.group, within: bound, reply: reply)
        }
    }

    func commitTransaction() async throws(KafkaError) {
        isCommitting = true
        defer { isCommitting = false }
        try await call { bound, reply in self.producer.commitTransaction(within: bound, reply: reply) }
        isTransactionOpen = false
    }

    func abortTransaction() async throws(KafkaError) {
        defer { isTransactionOpen = false }
        try await call { bound, reply in self.producer.abortTransaction(within: bound, reply: reply) }
    }

    func endTransactions(by instant: Instant) async { endOfTransactions = instant }

    private typealias Make = (_ bound: Int64, _ reply: @escaping (KafkaError?) -> Void) -> Void

    private func call(isInitialization: Bool = false, _ make: Make) async throws(KafkaError) {
        inbox.start()
        let due = loop.now + Self.usualTime
        for attempt in 1... {
            let limit = isInitialization ? loop.now + Self.timeToInitialize : due
            guard let failure = await answer(before: limit, make) else { return }

            let hasTime = attempt < Self.maxAttempts && !isOver && (isInitialization || loop.now < due)
            guard failure.kind == .retriable, hasTime else { throw failure }
            await loop.pause(.milliseconds(100 * attempt))
        }
    }

    private func answer(before due: Instant, _ make: Make) async -> KafkaError? {
        let begin = loop.now
        let time = max(Self.shortestTime, begin.duration(to: min(due, endOfTransactions ?? due)))
        var leftAt = begin + time + Self.overtime
        if let end = endOfTransactions { leftAt = min(leftAt, max(end, begin + time) + Self.overtimeAtEnd) }

        var waiter: CheckedContinuation<KafkaError?, Never>?
        let timer = loop.schedule(at: leftAt) { [weak self] in
            guard let self, let left = waiter else { return }
            waiter = nil
            if !isOver { hungSince = begin }
            left.resume(returning: KafkaError(isOver ? .timedOut : .hung, "the call does not return"))
        }
        defer { loop.cancel(timer) }

        return await withCheckedContinuation { continuation in
            waiter = continuation
            make(time.wholeNanoseconds) { error in
                waiter?.resume(returning: error)
                waiter = nil
            }
        }
    }

    private var isOver: Bool { endOfTransactions.map { $0 <= loop.now } ?? false }
}
