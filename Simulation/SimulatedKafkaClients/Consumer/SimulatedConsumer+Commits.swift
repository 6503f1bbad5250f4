package import Kafka
internal import SimulatedKafka

/// The state of commits, of which one is in flight at a time, as in `OffsetCommits`.
struct CommitState {
    struct Waiter {
        let number: Int
        /// The number of the commit that decides about this caller's offsets.
        let wanted: Int
        let reply: (KafkaError?) -> Void
    }

    var begun = 0
    var answered = 0
    var waiters: [Waiter] = []
    var lastWaiter = 0
    /// The epochs of the partitions in the commit in flight.
    var asked: [PartitionID: UInt32] = [:]
    /// The time after which no commit before a revocation is tried; `nil` while the consumer stays.
    var leavesBefore: Int64?
}

extension SimulatedConsumer {
    /// Stores the next offsets for the next commit. Partitions that are no longer assigned are skipped.
    package func store(_ offsets: [(partition: AssignedPartition, next: CommittedOffset)]) {
        for (partition, next) in offsets {
            guard let source = source(partition) else { continue }
            source.uncommitted = next
            if next.offset > source.nextOffset { onStoredUnread(source.id, next) }
        }
    }

    package func noteCommitted(_ offsets: [(partition: AssignedPartition, next: Int64)]) {
        for (partition, next) in offsets {
            guard let source = source(partition) else { continue }
            (source.committed, source.uncommitted, source.missingSince) = (next, nil, nil)
        }
    }

    /// The offsets that the broker has confirmed.
    package var confirmed: [AssignedPartition: Int64] {
        var offsets: [AssignedPartition: Int64] = [:]
        for source in inOrder { offsets[source.partition] = source.committed }
        return offsets
    }

    /// The reasons why the brokers reject commits of single partitions.
    package var refusedCommits: [AssignedPartition: KafkaError] {
        inOrder.reduce(into: [:]) { $0[$1.partition] = $1.hasEnded ? nil : $1.commitRefusal }
    }

    /// Commits the stored offsets.
    /// - Parameter reply: Called with `nil` when all of them are committed, or with the error.
    package func commit(within bound: Int64, reply: @escaping (KafkaError?) -> Void) {
        guard !isClosed else { return reply(KafkaError(.closed, "the Kafka client is closed")) }
        guard !uncommitted.isEmpty else { return reply(nil) }
        if isRejoining { return reply(KafkaError(.retriable, "commit offsets: the group is rebalancing")) }
        commitStored(within: bound, reply: reply)
    }

    /// Commits one offset while the process crashes.
    /// - Parameter then: Called once, when the commit is answered or takes longer than `bound`.
    package func commitOnCrash(
        _ partition: AssignedPartition, next: CommittedOffset, within bound: Int64, then: @escaping () -> Void
    ) {
        var isDone = false
        let finish = {
            guard !isDone else { return }
            isDone = true
            then()
        }
        guard !isClosed else { return finish() }

        link.after(bound, finish)
        let id = PartitionID(partition.id.topic, partition.id.partition)
        let request = OffsetCommitRequest(settings.group, as: member, [id: OffsetToCommit(next)])
        link.askCoordinator(
            groupKey, .offsetCommit, within: bound,
            error: { (answer: OffsetCommitResponse) in answer.coordinatorError },
            { $2($0.offsetCommit(request, at: $1)) }, reply: { _ in finish() })
    }

    private var uncommitted: [Source] {
        inOrder.filter {
            $0.uncommitted != nil && !$0.hasEnded
                && $0.missingSince.map { now - $0 >= 60 * ClusterRules.second } ?? true
        }
    }

    private func commitStored(within bound: Int64, reply: @escaping (KafkaError?) -> Void) {
        guard !uncommitted.isEmpty else { return reply(nil) }
        commits.lastWaiter += 1
        let number = commits.lastWaiter
        commits.waiters.append(CommitState.Waiter(number: number, wanted: commits.begun + 1, reply: reply))
        link.after(bound) { [weak self] in
            guard let self, let index = commits.waiters.firstIndex(where: { $0.number == number }) else { return }
            commits.waiters.remove(at: index).reply(KafkaError(.timedOut, "commit offsets: no answer in time"))
        }
        beginCommit()
    }

    private func beginCommit() {
        guard commits.begun == commits.answered, !commits.waiters.isEmpty else { return }
        let stored = uncommitted
        guard !stored.isEmpty else { return endWaits(with: nil) }
        commits.begun += 1

        var offsets: [PartitionID: OffsetToCommit] = [:]
        commits.asked = [:]
        for source in stored {
            offsets[source.id] = source.uncommitted.map { OffsetToCommit($0) }
            commits.asked[source.id] = source.partition.epoch
        }
        let request = OffsetCommitRequest(settings.group, as: member, offsets)
        link.askCoordinator(
            groupKey, .offsetCommit, error: { (answer: OffsetCommitResponse) in answer.coordinatorError },
            { $2($0.offsetCommit(request, at: $1)) }
        ) { [weak self] result in
            guard let self else { return }
            commits.answered = commits.begun
            switch result {
            case .success(let answer): end(answer, request)
            case .failure(let failure): endCommit(with: failure.error(doing: "commit offsets"))
            }
        }
    }

    private func end(_ answer: OffsetCommitResponse, _ request: OffsetCommitRequest) {
        var error: KafkaError?
        for (id, code) in answer.results.sorted(by: { $0.key < $1.key }) {
            let source = sources[id].flatMap { commits.asked[id] == $0.partition.epoch ? $0 : nil }
            if code == .none {
                guard let source, let confirmed = request.offsets[id] else { continue }
                (source.committed, source.commitRefusal, source.missingSince) = (confirmed.offset, nil, nil)
                // An offset stored since then waits for the next commit.
                if source.uncommitted.map({ OffsetToCommit($0) }) == confirmed { source.uncommitted = nil }
                continue
            }
            let refusal = KafkaError(librdkafkaCode: Int32(code.rawValue), doing: "commit offset of \(id)")
            guard refusal.isTopicRefusal else { error = refusal; continue }
            source?.commitRefusal = refusal
            if refusal.kind == .unknownTopicOrPartition { source?.missingSince = now }
        }
        endCommit(with: error)
        noteCommitError(answer.error, generation: request.member.generation)
    }

    private func endCommit(with error: KafkaError?) {
        let answered = commits.answered
        let done = commits.waiters.filter { $0.wanted <= answered }
        commits.waiters.removeAll { $0.wanted <= answered }
        for waiter in done { waiter.reply(error) }
        beginCommit()
    }

    func endWaits(with error: KafkaError?) {
        let ended = commits.waiters
        commits.waiters = []
        for waiter in ended { waiter.reply(error) }
    }

    /// Updates the membership after a rejected commit.
    private func noteCommitError(_ code: ErrorCode, generation used: Int32) {
        switch code {
        case .fencedInstanceID: failMembership(code)
        case .unknownMemberID where settings.groupProtocol == .classic && used == generation:
            memberID = ""
            loseEverything()
        case .illegalGeneration where settings.losesAssignmentByStaleCommits || used == generation:
            generation = -1
            loseEverything()
        case .staleMemberEpoch: sendModernHeartbeat()
        default: break
        }
    }

    /// Commits the offsets that the handler stored for revoked partitions. Retries while the coordinator is unavailable or moves.
    func commitBeforeHandover(then: @escaping () -> Void) {
        let end = min(now + 5 * ClusterRules.second, commits.leavesBefore ?? .max)
        commitBeforeHandover(until: end, then: then)
    }

    private func commitBeforeHandover(until end: Int64, then: @escaping () -> Void) {
        let pause = 200 * ClusterRules.millisecond
        commitStored(within: max(0, end - now)) { [weak self] error in
            guard let self else { return }
            guard let error, error.isOfCoordinatorToSimulation, now + pause < end else { return then() }
            link.after(pause) { [weak self] in self?.commitBeforeHandover(until: end, then: then) }
        }
    }

    /// Requests the group's committed offsets, and waits for those that an open transaction is about to commit.
    package func committedOffsets(
        of assigned: [AssignedPartition], within bound: Int64,
        reply: @escaping (Result<[AssignedPartition: CommittedOffset], KafkaError>) -> Void
    ) {
        guard !isClosed else { return reply(.failure(KafkaError(.closed, "the Kafka client is closed"))) }
        let what = "look up committed offsets"
        let end = now + bound
        let ids = assigned.map { PartitionID($0.id.topic, $0.id.partition) }
        let request = OffsetFetchRequest(
            settings.group, ids, requireStable: true, member: settings.groupProtocol == .consumer ? member : nil)
        let tryAgain = { [weak self] (failure: KafkaError) in
            guard let self, now + ClientLink.backoff < end else { return reply(.failure(failure)) }
            link.after(ClientLink.backoff) { [weak self] in
                guard let self else { return }
                committedOffsets(of: assigned, within: end - now, reply: reply)
            }
        }
        link.askCoordinator(
            groupKey, .offsetFetch, within: bound, error: { (answer: OffsetFetchResponse) in answer.error },
            { $2($0.offsetFetch(request, at: $1)) }
        ) { result in
            switch result {
            case .failure(let failure):
                let error = failure.error(doing: what)
                if failure.mayPass || failure == .code(.staleMemberEpoch) {
                    tryAgain(error)
                } else {
                    reply(.failure(error))
                }
            case .success(let answer):
                if answer.results.values.contains(where: { $0.error == .unstableOffsetCommit }) {
                    return tryAgain(KafkaError(.timedOut, code: LibraryCode.timedOut, "\(what): not stable in time"))
                }
                var offsets: [AssignedPartition: CommittedOffset] = [:]
                for (partition, id) in zip(assigned, ids) {
                    guard let found = answer.results[id], found.offset >= 0 else { continue }
                    offsets[partition] = CommittedOffset(found.offset, metadata: found.metadata)
                }
                reply(.success(offsets))
            }
        }
    }
}

extension OffsetCommitResponse {
    /// The error, if it is about the coordinator itself and not about an offset.
    fileprivate var coordinatorError: ErrorCode {
        switch error {
        case .notCoordinator, .coordinatorNotAvailable, .coordinatorLoadInProgress: error
        default: .none
        }
    }
}

extension OffsetToCommit {
    init(_ committed: CommittedOffset) { self.init(committed.offset, metadata: committed.metadata) }
}

extension KafkaError {
    /// True if the coordinator is unavailable or moves, as in `KafkaError.isOfCoordinator`.
    fileprivate var isOfCoordinatorToSimulation: Bool {
        kind == .unreachable
            || [
                Int32(ErrorCode.coordinatorLoadInProgress.rawValue), Int32(ErrorCode.coordinatorNotAvailable.rawValue),
                Int32(ErrorCode.notCoordinator.rawValue), Int32(ErrorCode.requestTimedOut.rawValue),
                LibraryCode.waitCoordinator,
            ].contains(code)
    }
}
