@testable import Kafka
import WorkerRuntime

/// A producer without brokers: the test decides which records are rejected, and when the others are confirmed.
actor FakeSink: OutcomeSink {
    typealias Report = Result<RecordPosition, KafkaError>

    private struct Underway {
        let record: ProducerRecord
        /// The number of records in flight when this one was enqueued, including it.
        let company: Int
        var report: Report?
        var waiter: CheckedContinuation<Report, Never>?
    }

    private var underway: [Int: Underway] = [:]
    private var nextSlot = 0
    private var isHolding = false
    /// The topics whose reports arrive only when the sink closes.
    var silentTopics: Set<String> = []
    private(set) var isClosed = false
    private var refusal: @Sendable (ProducerRecord, _ company: Int) -> KafkaError? = { _, _ in nil }
    private var transactionInit: CheckedContinuation<KafkaError?, Never>?
    /// True if registrations of the transactional id wait until `endTransactions`.
    var isInitHeld = false
    private var isEnded = false
    /// The error of registrations of the transactional id.
    var initError: KafkaError?
    /// The number of registrations of the transactional id.
    private(set) var registrations = 0
    private var commitFailures: [CommitFailure] = []
    private var heldCall: CheckedContinuation<KafkaError?, Never>?
    private var isCommitHeld = false
    /// The call that hangs whenever it is made.
    var hungCall: Call?
    private var heldOffsets: CheckedContinuation<Void, Never>?
    private var areOffsetsHeld = false
    /// `RD_KAFKA_RESP_ERR__PURGE_QUEUE`.
    private static let purged: Int32 = -152
    private static let unanswered = KafkaError(.timedOut, "no answer in time")
    private var transaction: [ProducerRecord] = []

    /// The records that the brokers have confirmed, in that order. Records of a transaction are added when it is committed.
    private(set) var written: [ProducerRecord] = []
    /// Every record that was enqueued.
    private(set) var handedOver: [ProducerRecord] = []
    private(set) var transactionOffsets: [TopicPartition: CommittedOffset] = [:]
    private(set) var abortCount = 0
    /// The number of transactions that were committed.
    private(set) var commitCount = 0
    private let isTransactional: Bool
    /// `false` if each record is sent in a separate batch.
    private let isBatching: Bool
    /// True if it goes on after `close`, as a replacement for itself.
    private let staysOpen: Bool

    init(
        isTransactional: Bool = false, isBatching: Bool = true, commitFailures: [CommitFailure] = [],
        staysOpen: Bool = false
    ) {
        self.staysOpen = staysOpen
        self.isTransactional = isTransactional
        self.isBatching = isBatching
        self.commitFailures = commitFailures
    }

    /// The calls about a transaction.
    enum Call: CaseIterable {
        case initialize
        case begin
        case sendOffsets
        case commit
        case abort
    }

    /// The error of a call that does not return.
    static let hung = KafkaError(.hung, "made to hang")

    /// The failure of a commit.
    struct CommitFailure {
        var error: KafkaError
        /// True if the brokers have committed the transaction, although the caller gets an error.
        var hasTakenEffect = false
    }

    // MARK: - Control by the test

    func change(_ body: @Sendable (isolated FakeSink) -> Void) { body(self) }

    /// Makes the next commits fail, one for each failure.
    func failCommits(_ failures: [CommitFailure]) { commitFailures = failures }

    private func hang(_ call: Call) throws(KafkaError) {
        if hungCall == call { throw Self.hung }
    }

    /// Makes the next commit wait until `releaseCommit` or `endTransactions` is called.
    func holdCommit() { isCommitHeld = true }

    /// Makes the next offsets that are sent wait until `releaseOffsets` is called.
    func holdOffsets() { areOffsetsHeld = true }

    func releaseOffsets() {
        areOffsetsHeld = false
        heldOffsets?.resume()
        heldOffsets = nil
    }

    /// True while offsets that were sent wait.
    var holdsOffsets: Bool { heldOffsets != nil }

    /// Lets the waiting commit and the following ones succeed.
    func releaseCommit() {
        isCommitHeld = false
        heldCall?.resume(returning: nil)
        heldCall = nil
    }

    /// True while a commit waits.
    var holdsCommit: Bool { heldCall != nil }

    /// Makes reports wait until `confirmAll`.
    func holdReports() { isHolding = true }

    func confirmAll() {
        isHolding = false
        for slot in underway.keys.sorted() { report(on: slot) }
    }

    /// Ends all records in flight, and all later ones, with a fatal error.
    func failForGood() {
        let error = KafkaError(.fatal, "producer: made to fail")
        refusal = { _, _ in error }
        confirmAll()
    }

    /// - Parameter refusal: the reason why the brokers reject a record; `nil`: they accept it.
    func refuse(_ refusal: @escaping @Sendable (ProducerRecord, _ company: Int) -> KafkaError?) {
        self.refusal = refusal
    }

    /// Returns the number of records that a topic has.
    func count(of topic: String) -> Int { written.count { $0.topic == topic } }

    // MARK: - OutcomeSink

    /// Returns `false`: it runs on no loop, so records are enqueued with `handOver`.
    nonisolated func handOverAtOnce(_ record: ProducerRecord, report: @escaping (Report) -> Void) -> Bool { false }

    func handOver(_ record: ProducerRecord) async throws(KafkaError) -> KafkaProducer.Receipt {
        if isClosed { throw KafkaError(.closed, "closed") }
        nextSlot += 1
        handedOver.append(record)
        underway[nextSlot] = Underway(record: record, company: isBatching ? underway.count + 1 : 1)
        return KafkaProducer.Receipt(slot: nextSlot)
    }

    func confirm(_ receipt: KafkaProducer.Receipt) async throws(KafkaError) -> RecordPosition {
        let slot = receipt.slot
        let report: Report = await withCheckedContinuation { waiter in
            if let report = underway[slot]?.report {
                underway[slot] = nil
                waiter.resume(returning: report)
                return
            }
            underway[slot]?.waiter = waiter
            if !isHolding || isClosed { self.report(on: slot) }
        }
        return try report.get()
    }

    private func report(on slot: Int) {
        guard let entry = underway[slot], entry.report == nil else { return }
        if silentTopics.contains(entry.record.topic), !isClosed { return }
        let company = isBatching ? underway.count : 1
        let report: Report
        if isClosed {
            report = .failure(KafkaError(.closed, "closed"))
        } else if let error = refusal(entry.record, max(company, entry.company)) {
            report = .failure(error)
        } else {
            report = .success(RecordPosition(partition: 0, offset: Int64(written.count)))
            if isTransactional { transaction.append(entry.record) } else { written.append(entry.record) }
        }

        if let waiter = entry.waiter {
            underway[slot] = nil
            waiter.resume(returning: report)
        } else {
            underway[slot]?.report = report
        }
    }

    var undelivered: Int { underway.count }

    nonisolated var statistics: ClientStatistics? { nil }

    func start() {}

    func flush(within bound: Duration) async -> Bool {
        let end = Instant.now + bound
        while isHolding, !underway.isEmpty, .now < end { try? await Task.sleep(for: .milliseconds(5)) }
        guard !isHolding else { return underway.isEmpty }
        for slot in underway.keys.sorted() {
            report(on: slot)
            if isTransactional, case .failure? = underway[slot]?.report { purge() }
        }
        return true
    }

    /// Ends records without a report, as librdkafka does once a record of a transaction has failed.
    private func purge() {
        for slot in underway.keys where underway[slot]?.report == nil {
            underway[slot]?.report = .failure(KafkaError(librdkafkaCode: Self.purged, doing: "delivery"))
        }
    }

    func close() {
        if staysOpen { return }
        isClosed = true
        for slot in underway.keys.sorted() { report(on: slot) }
    }

    func initTransactions() async throws(KafkaError) {
        registrations += 1
        try hang(.initialize)
        if let initError { throw initError }
        guard isInitHeld else { return }
        if isEnded { throw Self.unanswered }
        if let error = await withCheckedContinuation({ transactionInit = $0 }) { throw error }
    }

    func beginTransaction() async throws(KafkaError) {
        try hang(.begin)
        transaction = []
    }

    func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as member: GroupMembership
    ) async throws(KafkaError) {
        try hang(.sendOffsets)
        try failWithFailedRecord("send offsets")
        if areOffsetsHeld { await withCheckedContinuation { heldOffsets = $0 } }
        pendingOffsets = offsets
    }
    private var pendingOffsets: [(partition: TopicPartition, next: CommittedOffset)] = []

    private func failWithFailedRecord(_ call: String) throws(KafkaError) {
        for (_, entry) in underway.sorted(by: { $0.key < $1.key }) {
            if case .failure(let error)? = entry.report { throw KafkaError(.abortable, "\(call): \(error)") }
        }
    }

    func commitTransaction() async throws(KafkaError) {
        for slot in underway.keys.sorted() { report(on: slot) }
        try hang(.commit)
        try failWithFailedRecord("commit")
        if isCommitHeld, let error = await withCheckedContinuation({ heldCall = $0 }) { throw error }

        let failure = commitFailures.isEmpty ? nil : commitFailures.removeFirst()
        if let failure, !failure.hasTakenEffect { throw failure.error }
        written += transaction
        commitCount += 1
        for (partition, next) in pendingOffsets { transactionOffsets[partition] = next }
        if let failure { throw failure.error }
    }

    func abortTransaction() async throws(KafkaError) {
        abortCount += 1
        try hang(.abort)
        transaction = []
        purge()
    }

    func endTransactions(by instant: Instant) {
        guard instant <= .now else { return }
        isEnded = true
        transactionInit?.resume(returning: Self.unanswered)
        transactionInit = nil
        heldCall?.resume(returning: Self.unanswered)
        heldCall = nil
    }
}

extension ProducerRecord {
    var text: String { String(decoding: value ?? [], as: UTF8.self) }
}
