package import Kafka
internal import SimulatedKafka

/// librdkafka's state of its transaction. One call at a time.
struct TransactionClient {
    enum State: Hashable {
        case uninitialized
        case ready
        case open
        case committing
        /// Only an abort is possible.
        case failed
        case aborting
    }

    /// The call in progress.
    struct Call {
        var number: Int
        let name: String
        let end: Int64
        let reply: (KafkaError?) -> Void
    }

    var state = State.uninitialized
    var call: Call?
    var calls = 0
    /// The reason why only an abort is possible.
    var problem: KafkaError?
    /// True if the identity cannot be used any more: an abort gets a new epoch instead of ending the transaction.
    var needsNewEpoch = false
    /// True if the coordinator has the transaction: something was added to it.
    var isKnownToCoordinator = false
    /// The request that ends the transaction. A call that is made again waits for it, and sends no second one.
    var ending = Ending.notRequested

    enum Ending {
        case notRequested
        case requested
        /// It has ended, but the call that requested it was over by then. The next call learns of it.
        case ended
    }

    var maySend: Bool { state == .open || state == .committing }

    mutating func end(with error: KafkaError) {
        let call = call
        self.call = nil
        call?.reply(error)
    }
}

extension SimulatedProducer {
    private var coordinatorKey: FindCoordinatorRequest.Key { .transaction(settings.transactionalID ?? "") }
    private var name: TransactionName { TransactionName(settings.transactionalID ?? "", identity) }

    // MARK: - The calls

    /// Registers the transactional id and fences its former holder.
    package func initTransactions(within bound: Int64, reply: @escaping (KafkaError?) -> Void) {
        begin("init transactions", within: bound, reply: reply) { [self] in
            guard transaction.state == .uninitialized || transaction.state == .ready else {
                return finish(code: LibraryCode.state)
            }
            initialize(current: nil)
        }
    }

    /// Begins a transaction. The coordinator learns of it with the first record or offset.
    package func beginTransaction() -> KafkaError? {
        if let failure { return failure }
        guard transaction.state == .ready else {
            return KafkaError(librdkafkaCode: LibraryCode.state, doing: "begin transaction")
        }
        transaction.state = .open
        transaction.problem = nil
        return nil
    }

    /// Adds the group's offsets to the transaction, in the name of the membership.
    package func sendOffsets(
        _ offsets: [(partition: TopicPartition, next: CommittedOffset)], as membership: GroupMembership, group: String,
        within bound: Int64, reply: @escaping (KafkaError?) -> Void
    ) {
        begin("add offsets to transaction", within: bound, isResumable: false, reply: reply) { [self] in
            guard isOpenForCalls(), let member = membership.simulatedName as? MemberName else {
                return finish(code: LibraryCode.state)
            }
            guard !offsets.isEmpty else { return finish(nil) }
            let pairs = offsets.map {
                (PartitionID($0.partition.topic, $0.partition.partition), OffsetToCommit($0.next))
            }
            addOffsets(Dictionary(pairs) { _, last in last }, group: group, as: member)
        }
    }

    /// Commits the transaction, after all its records have been delivered.
    package func commitTransaction(within bound: Int64, reply: @escaping (KafkaError?) -> Void) {
        begin("commit transaction", within: bound, reply: reply) { [self] in
            if transaction.state == .committing { return end(.commit) }
            guard isOpenForCalls() else { return finish(code: LibraryCode.state) }
            flush(within: max(0, (transaction.call?.end ?? 0) - now)) { [weak self] isEmpty in
                guard let self, transaction.call?.name == "commit transaction" else { return }
                if let problem = transaction.problem { return finish(problem) }
                guard isEmpty else { return finish(retriable: LibraryCode.timedOut) }
                transaction.state = .committing
                end(.commit)
            }
        }
    }

    /// Aborts the transaction. Records that are not delivered yet are purged.
    package func abortTransaction(within bound: Int64, reply: @escaping (KafkaError?) -> Void) {
        begin("abort transaction", within: bound, reply: reply) { [self] in
            guard [.open, .failed, .aborting].contains(transaction.state) else {
                return finish(
                    transaction.state == .ready
                        ? nil : KafkaError(librdkafkaCode: LibraryCode.state, doing: "abort transaction"))
            }
            transaction.state = .aborting
            purge()
            abortWhenQuiet()
        }
    }

    /// Waits for batches in flight, because it must be known whether their sequence numbers were used.
    private func abortWhenQuiet() {
        if inOrder.contains(where: { $0.isUnderway }) { return again { [weak self] in self?.abortWhenQuiet() } }
        end(.abort)
    }

    /// - Parameter isResumable: `false` for a call that returns only after the answer to its last request, even if its
    ///   timeout has passed (`rd_kafka_send_offsets_to_transaction`).
    private func begin(
        _ name: String, within bound: Int64, isResumable: Bool = true, reply: @escaping (KafkaError?) -> Void,
        _ body: () -> Void
    ) {
        if let failure { return reply(failure) }
        guard !isClosed, transaction.call == nil else {
            return reply(KafkaError(librdkafkaCode: LibraryCode.state, doing: name))
        }
        transaction.calls += 1
        let number = transaction.calls
        transaction.call = TransactionClient.Call(number: number, name: name, end: now + bound, reply: reply)
        if isResumable {
            link.after(bound) { [weak self] in
                // If the call is made again, it continues where it was.
                if self?.transaction.call?.number == number { self?.finish(retriable: LibraryCode.timedOut) }
            }
        }
        body()
    }

    /// False if the transaction cannot go on. If there is a reason for an abort, the call has ended with it.
    private func isOpenForCalls() -> Bool { transaction.state == .open || transaction.state == .failed }

    private func finish(_ error: KafkaError?) {
        let call = transaction.call
        transaction.call = nil
        call?.reply(error)
    }

    /// Makes the call in progress wait forever, in spite of its timeout.
    private func leaveUnanswered() { transaction.call?.number = -1 }

    private func finish(code: Int32) {
        finish(KafkaError(librdkafkaCode: code, doing: transaction.call?.name ?? "transaction"))
    }

    private func finish(retriable code: Int32) {
        let known = KafkaError(librdkafkaCode: code, doing: transaction.call?.name ?? "transaction")
        finish(KafkaError(.retriable, code: code, known.description))
    }

    /// Runs a function again while the same call waits.
    private func again(_ body: @escaping () -> Void) {
        guard let number = transaction.call?.number else { return }
        link.after(ClientLink.backoff) { [weak self] in
            if self?.transaction.call?.number == number { body() }
        }
    }

    // MARK: - Failures

    /// Marks the transaction as one that can only be aborted, and purges its records that are not in flight.
    func failTransaction(_ code: Int32, needsNewEpoch: Bool) {
        guard transaction.state == .open || transaction.state == .failed else { return }
        transaction.state = .failed
        transaction.needsNewEpoch = transaction.needsNewEpoch || needsNewEpoch
        let known = KafkaError(librdkafkaCode: code, doing: "transaction")
        // `Sources/Platform/Kafka` reports a member that was replaced as fenced, although the transaction could be aborted.
        let kind = known.kind == .fenced ? known.kind : .abortable
        transaction.problem = transaction.problem ?? KafkaError(kind, code: code, known.description)
        // librdkafka does so at once, so that a flush ends (`rd_kafka_txn_set_abortable_error0`).
        purge()
    }

    private func failForGood(_ code: ErrorCode) {
        let what = transaction.call?.name ?? "transaction"
        switch code {
        // librdkafka has one code for both: another producer has this transactional id.
        case .producerFenced, .invalidProducerEpoch:
            fail(KafkaError(librdkafkaCode: LibraryCode.fenced, doing: what))
        default:
            let known = KafkaError(librdkafkaCode: Int32(code.rawValue), doing: what)
            fail(KafkaError(.fatal, code: known.code, known.description))
        }
    }

    /// Ends a call whose time was over before the group's coordinator had the offsets: the transaction can only be aborted.
    private func tooLate() {
        failTransaction(LibraryCode.timedOut, needsNewEpoch: false)
        finish(transaction.problem)
    }

    private func abortable(_ code: ErrorCode, needsNewEpoch: Bool = false) {
        failTransaction(Int32(code.rawValue), needsNewEpoch: needsNewEpoch)
        finish(transaction.problem)
    }

    // MARK: - Requests

    private func initialize(current: ProducerIdentity?) {
        let request = InitProducerIDRequest(
            settings.transactionalID, transactionTimeout: settings.transactionTimeout, current: current)
        ask(
            .initProducerID, error: { (answer: InitProducerIDResponse) in answer.error },
            { $2($0.initProducerID(request, at: $1)) }
        ) {
            [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let answer):
                identity = answer.producer
                for lane in lanes.values { (lane.sequence, lane.isInTransaction) = (0, false) }
                transaction.needsNewEpoch = false
                close(.ready)
            case .failure(let failure) where failure.mayPass:
                again { [weak self] in self?.initialize(current: current) }
            case .failure(.code(let code)): failForGood(code)
            case .failure: break
            }
        }
    }

    /// Ends the call and the transaction successfully.
    private func close(_ state: TransactionClient.State) {
        transaction.state = state
        transaction.problem = nil
        transaction.isKnownToCoordinator = false
        transaction.ending = .notRequested
        for lane in lanes.values { lane.isInTransaction = false }
        finish(nil)
    }

    /// Ends the transaction, and gets a new epoch if it needs one.
    private func complete() {
        if transaction.needsNewEpoch { initialize(current: identity) } else { close(.ready) }
    }

    private func ask<Answer>(
        _ kind: RequestKind, error: @escaping (Answer) -> ErrorCode,
        _ perform: @escaping (SimulatedCluster, Int32, @escaping (Answer) -> Void) -> Void,
        reply: @escaping (Result<Answer, ClientFailure>) -> Void
    ) {
        link.askCoordinator(coordinatorKey, kind, error: error, perform, reply: reply)
    }

    /// Adds partitions to the transaction before their first record is sent: all that have one.
    func addToTransaction() {
        guard transaction.state == .open || transaction.state == .committing else { return }
        let added = inOrder.filter { !$0.isUnderway && !$0.isInTransaction && !($0.queue.isEmpty && $0.batch.isEmpty) }
        guard !added.isEmpty else { return }
        for lane in added { lane.isUnderway = true }
        let request = AddPartitionsToTxnRequest(name, added.map(\.id))
        ask(
            .addPartitionsToTxn, error: { (answer: AddPartitionsToTxnResponse) in answer.refusal },
            { $2($0.addPartitionsToTxn(request, at: $1)) }
        ) { [weak self] result in
            guard let self else { return }
            for lane in added { lane.isUnderway = false }
            guard request.transaction.producer == identity else { return }
            switch result {
            case .success:
                transaction.isKnownToCoordinator = true
                for lane in added { lane.isInTransaction = true }
                for lane in added { send(lane, isFlushing: true) }
            case .failure(let failure) where failure.mayPass || failure == .code(.unknownTopicOrPartition):
                link.after(ClientLink.backoff) { [weak self] in
                    for lane in added { self?.send(lane, isFlushing: true) }
                }
            case .failure(.code(let code)):
                for lane in added { take(code, addingTo: lane) }
            case .failure: break
            }
        }
    }

    private func take(_ code: ErrorCode, addingTo lane: Lane) {
        switch code {
        case .producerFenced, .invalidProducerEpoch, .invalidTxnState, .transactionalIDAuthorizationFailed:
            failForGood(code)
        default:
            let needsNewEpoch = code == .invalidProducerIDMapping || code == .unknownProducerID
            failTransaction(Int32(code.rawValue), needsNewEpoch: needsNewEpoch)
        }
    }

    private func addOffsets(_ offsets: [PartitionID: OffsetToCommit], group: String, as member: MemberName) {
        if let problem = transaction.problem { return finish(problem) }
        let request = AddOffsetsToTxnRequest(name, group: group)
        ask(
            .addOffsetsToTxn, error: { (answer: PlainResponse) in answer.error },
            { $2($0.addOffsetsToTxn(request, at: $1)) }
        ) {
            [weak self] result in
            guard let self, let call = transaction.call else { return }
            if result.mayHaveArrived { transaction.isKnownToCoordinator = true }
            switch result {
            case .success where now < call.end: commit(offsets, group: group, as: member)
            case .failure(let failure) where failure.mayPass && now < call.end:
                again { [weak self] in self?.addOffsets(offsets, group: group, as: member) }
            case .success: finish(retriable: LibraryCode.timedOut)
            case .failure(let failure) where failure.mayPass: finish(retriable: LibraryCode.timedOut)
            case .failure(.code(let code)):
                switch code {
                case .groupAuthorizationFailed: abortable(code)
                case .invalidProducerIDMapping, .unknownProducerID: abortable(code, needsNewEpoch: true)
                default: failForGood(code)
                }
            case .failure: break
            }
        }
    }

    private func commit(_ offsets: [PartitionID: OffsetToCommit], group: String, as member: MemberName) {
        if let problem = transaction.problem { return finish(problem) }
        let request = TxnOffsetCommitRequest(name, group: group, as: member, offsets)
        link.askCoordinator(
            .group(group), .txnOffsetCommit, error: { (answer: OffsetCommitResponse) in answer.error },
            { $2($0.txnOffsetCommit(request, at: $1)) }
        ) { [weak self] result in
            guard let self, let call = transaction.call else { return }
            if dropsAnswer() { return leaveUnanswered() }
            switch result {
            case .success: finish(nil)
            case .failure(let failure) where failure.mayPass || failure == .code(.unknownTopicOrPartition):
                guard now < call.end else { return tooLate() }
                again { [weak self] in self?.commit(offsets, group: group, as: member) }
            case .failure(.code(let code)):
                switch code {
                case .producerFenced, .invalidProducerEpoch, .invalidTxnState, .invalidProducerIDMapping,
                    .transactionalIDAuthorizationFailed:
                    failForGood(code)
                // The group has gone on without the member.
                default: abortable(code)
                }
            case .failure: break
            }
        }
    }

    private func end(_ result: TransactionResult) {
        // The coordinator does not have a transaction without records and offsets.
        guard transaction.isKnownToCoordinator, transaction.ending != .ended else { return complete() }
        guard transaction.ending == .notRequested else { return }
        transaction.ending = .requested
        requestEnd(result)
    }

    private func requestEnd(_ result: TransactionResult) {
        let request = EndTxnRequest(name, result)
        ask(.endTxn, error: { (answer: PlainResponse) in answer.error }, { $2($0.endTxn(request, at: $1)) }) {
            [weak self] answer in
            guard let self, transaction.ending == .requested else { return }
            switch answer {
            case .success:
                transaction.ending = .ended
                if transaction.call != nil { complete() }
            case .failure(let failure) where failure.mayPass:
                link.after(ClientLink.backoff) { [weak self] in self?.requestEnd(result) }
            case .failure(.code(let code)):
                transaction.ending = .notRequested
                switch code {
                case .invalidProducerIDMapping, .unknownProducerID:
                    transaction.state = .failed
                    transaction.needsNewEpoch = true
                    if result == .abort { initialize(current: identity) } else { abortable(code, needsNewEpoch: true) }
                default: failForGood(code)
                }
            case .failure: break
            }
        }
    }

    /// Reports the records that are not in flight as purged.
    ///
    /// The following records get their sequence numbers, even if a purged batch was sent before and is in the log: librdkafka
    /// advances the base of the numbers by all that it purges (`rd_kafka_toppar_purge_queues`, up to 2.16).
    func purge() {
        let waiting = unplaced + inOrder.flatMap(\.queue)
        let sent = inOrder.filter { !$0.isUnderway }.flatMap(\.batch)
        unplaced = []
        for lane in lanes.values {
            lane.queue = []
            if !lane.isUnderway { lane.batch = [] }
        }
        for entry in waiting { finish(entry, code: LibraryCode.purgedQueue) }
        for entry in sent { finish(entry, code: LibraryCode.purgedInFlight) }
        wake()
    }
}

extension AddPartitionsToTxnResponse {
    /// The reason why the partitions are not part of the transaction. One rejected partition keeps the others out.
    fileprivate var refusal: ErrorCode {
        results.sorted { $0.key < $1.key }.map(\.value).first { $0 != .none && $0 != .operationNotAttempted } ?? .none
    }
}

extension Result where Failure == ClientFailure {
    /// False if the coordinator has certainly not executed the request.
    fileprivate var mayHaveArrived: Bool {
        switch self {
        case .success, .failure(.network): true
        case .failure: false
        }
    }
}
