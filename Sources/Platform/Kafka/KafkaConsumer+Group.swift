internal import Basics
internal import EventLoop
internal import Logging

/// Partitions come and go: the listener is asked before librdkafka is answered.
extension KafkaConsumer {
    /// The last word of the group to this member.
    struct Group {
        weak var listener: (any RebalanceListener)?
        /// The topics that were subscribed to.
        var topics: Set<String> = []
        /// The partitions of other topics that the group handed over last, about which the log has a line.
        var foreign: Set<TopicPartition> = []
        /// True from an assignment on until the group takes partitions away without asking.
        var isAssigned = false
        /// The member's id as of the last assignment; `nil` before the first, and where librdkafka does not say.
        var memberID: String?
        /// Why the group does not take the member in, as one line for a person; `nil` from the next rebalance on.
        var refusal: String?
        /// True from the answer to a revocation to the next assignment.
        var isRejoining = false
        /// Looks up where the partitions stand; `nil` while nothing is looked up.
        var lookup: Task<Void, Never>?
        /// `nil`: nothing was looked up yet.
        var nextLookup: Instant?
        /// When the ends of partitions are asked for again; `nil` before the first question.
        var nextEndLookup: Instant?
        /// Nothing is committed before a hand-over beyond this instant; `nil` while the consumer stays.
        var leavesBefore: Instant?
        /// True until librdkafka has the answer to an assignment.
        var isAssigning = false
        /// Looks up where reading begins in partitions of which that is not known yet; `nil` while nothing is looked up.
        var startSearch: Task<Void, Never>?
        /// True once the log says that it is not known where reading begins, until it is known.
        var hasWarnedOfStarts = false
        /// Looks up where and how reading goes on after a reset; `nil` while there is none.
        var resetLookup: Task<Void, Never>?
        /// The resets that are still to be reported.
        var resets: [OffsetResets.Reset] = []
        /// Answers the last rebalance. The client may not be destroyed before it has ended.
        var answer: Task<Void, Never>?
    }

    /// The membership under which partitions are assigned at this moment; `nil` before the first assignment, and once the
    /// group has taken the partitions away without asking.
    ///
    /// It is read anew at each call, because a generation can begin without an event: with cooperative assignors it is new
    /// when a revocation is announced, and with KIP-848 the member's epoch rises while the partitions stay. Brokers refuse
    /// offsets in the name of an older generation. A caller that commits partitions must still own them after this call.
    public var membership: GroupMembership? {
        guard group.isAssigned, !isClosed, let membership = GroupMembership(of: client) else { return nil }
        if let former = group.memberID, former != membership.memberID { return nil }

        // Looked at last: a member that was thrown out may be in a new generation by now, where others own its partitions.
        return client.isAssignmentLost ? nil : membership
    }

    /// True where the group threw the member out and has taken it in, or is about to take it in, under another id.
    ///
    /// librdkafka (all versions up to 2.16) does not call that a loss where the answer to a JoinGroup is how it learns of it, and the
    /// member is a static one of a cooperative group: the partitions stay assigned, although others may have had them meanwhile.
    ///
    /// Not asked of a member that leaves: see `giveUp`.
    private var wasThrownOut: Bool {
        guard !isClosed, let former = group.memberID, !partitions.inOrder.isEmpty,
            let present = GroupMembership.memberID(of: client)
        else { return false }
        return present != former
    }

    /// Asks which offsets the group has committed, and waits for those that an open transaction is about to commit.
    /// - Parameter assigned: Partitions; those whose assignment is over are asked about too.
    /// - Returns: No offset for a partition of which nothing was ever committed.
    /// - Throws: Why the brokers did not say within `bound`; asking again is safe.
    public func committedOffsets(
        of assigned: [AssignedPartition], within bound: Duration
    ) async throws(KafkaError) -> [AssignedPartition: CommittedOffset] {
        guard !isClosed else { throw .closed }
        // The client reads committed records, so that librdkafka asks the group for stable offsets (KIP-447).
        let committed = try await client.commits(of: assigned.map(\.id), within: bound)
        let known = assigned.compactMap { partition in committed[partition.id].map { (partition, $0) } }
        return Dictionary(known) { _, latest in latest }
    }

    /// Why the group does not take this member in, as one line for a person; `nil` where it has not refused to.
    public var groupRefusal: String? { group.refusal }

    /// True while no broker answers.
    public var brokersAreDown: Bool { brokers.areDown }

    /// Asks how many partitions a topic has.
    /// - Returns: `nil` when no broker answers within 2 seconds, or the topic is not there.
    public func partitionCount(of topic: String) async -> Int? {
        guard !isClosed else { return nil }
        return await client.partitionCount(of: topic)
    }

    /// Asks the brokers what is wrong with a topic, within 2 seconds.
    public func diagnosis(of topic: String) async -> TopicDiagnosis {
        guard !isClosed else { return .noBrokerAnswers }
        return await client.diagnosis(of: topic)
    }

    func answer(_ event: RebalanceEvent) async {
        let start = loop.now
        switch event.change {
        case .assigned:
            let kept = await loseUnnoticed()
            group.isAssigned = true
            if !isClosed { group.memberID = GroupMembership.memberID(of: client) }
            let own = leaveForeign(event.partitions) + kept
            await assign(own)
            await tellListener(of: .assigned, about: own, since: start)
            group.isRejoining = false
            if !isClosed, client.isCooperative { await wakeFetchers() }
        case .revoked:
            // Another assignment may have come without a revocation in between.
            group.isRejoining = false
            let own = event.partitions.filter { group.topics.contains($0.topic) }
            let kind = await revoke(own)
            await tellListener(of: kind, about: own, since: start)
        case .failed(let error):
            log.warning("rebalance failed", metadata: ["reason": "\(error)"])
            giveUp { $0.unassignAll() }
        }
    }

    /// Returns the partitions that are of subscribed topics. The others are given back unread: they are no part of what
    /// librdkafka is told to fetch, nor of what this member tells the group that it owns.
    ///
    /// A broker that hands over what nobody subscribed to is broken. Reading it would have a worker take its own outcomes
    /// for requests. The log has one line for it, and another one only when other partitions are concerned.
    private func leaveForeign(_ partitions: [TopicPartition]) -> [TopicPartition] {
        let foreign = Set(partitions.filter { !group.topics.contains($0.topic) })
        if !foreign.isEmpty, !foreign.isSubset(of: group.foreign) {
            log.error(
                "the group hands over partitions of topics that nobody subscribed to; they are given back unread",
                metadata: ["partitions": "\(foreign.map(\.description).sorted())"])
        }
        if !foreign.isEmpty { group.foreign = foreign }
        return partitions.filter { !foreign.contains($0) }
    }

    private func tellListener(
        of kind: RebalanceKind, about ids: [TopicPartition], since start: Instant
    ) async {
        if !ids.isEmpty { await group.listener?.answered(kind, after: start.duration(to: loop.now)) }
    }

    private func assign(_ ids: [TopicPartition]) async {
        brokers.noteAnswer()
        let added = partitions.add(ids)
        for source in added {
            source.awaitsStart = true
            client.offsetResets.forgetReset(of: source.partition.id)
        }
        group.isAssigning = true
        defer { group.isAssigning = false }
        await group.listener?.assigned(added.map(\.partition))

        let starts = await firstStarts(of: added)
        for source in added { if let start = starts[source.partition.id] { source.begin(at: start) } }
        do throws(KafkaError) {
            try client.assign(ids.map { (id: $0, start: starts[$0] ?? .unknown) })
        } catch {
            log.error("rebalance", metadata: ["reason": "\(error)"])
        }

        lookUpOffsets()
        wakeReader()
    }

    /// librdkafka pauses every partition while it takes an assignment, those that stay too, and does not tell its broker
    /// threads when that is over: they look again within a second, and until then nothing is read. A question about the
    /// partitions' ends goes through the same threads, and wakes them.
    private func wakeFetchers() async {
        let ids = partitions.inOrder.map(\.partition.id)
        guard !ids.isEmpty, !isClosed else { return }
        // The answer does not matter, only that it was asked for.
        _ = try? await client.offsets(.end, of: ids, within: .milliseconds(200))
    }

    /// - Returns: Whether the partitions were revoked or lost.
    private func revoke(_ ids: [TopicPartition]) async -> RebalanceKind {
        // Asked before any assign call, which clears it.
        let isLost = client.isAssignmentLost || wasThrownOut
        let gone = ids.compactMap { partitions.source($0) }
        for source in gone { source.isReadable = false }

        if isLost {
            group.isAssigned = false
            await group.listener?.lost(gone.map(\.partition))
        } else {
            await group.listener?.revoked(gone.map(\.partition))
            await commitBeforeHandover()
        }

        group.isRejoining = true
        partitions.remove(gone)
        giveUp(ids)
        return isLost ? .lost : .revoked
    }

    private func giveUp(_ ids: [TopicPartition]) {
        giveUp { client throws(KafkaError) in try client.unassign(ids) }
    }

    /// Answers librdkafka that partitions are given up.
    ///
    /// While the consumer leaves its group, librdkafka waits for this answer before it sends the LeaveGroup request. If the membership has
    /// just ended, librdkafka drops the answer (all versions up to 2.16), and the call never returns. So the event loop does not make it,
    /// but the thread that frees the client afterwards.
    private func giveUp(_ answer: @escaping @Sendable (ClientHandle) throws(KafkaError) -> Void) {
        // What a member that leaves is told in return changes nothing.
        if isClosed { return client.blocking.start { [client] in try? answer(client) } }
        do throws(KafkaError) {
            try answer(client)
        } catch {
            log.error("rebalance", metadata: ["reason": "\(error)"])
        }
    }

    /// Lets go of partitions that the member had under another id.
    /// - Returns: these partitions, which the group has left to the member or given to it again. They are to be assigned anew, so that
    ///   reading begins at what the group has committed.
    private func loseUnnoticed() async -> [TopicPartition] {
        guard !isClosed, client.isCooperative, wasThrownOut else { return [] }
        let gone = partitions.inOrder
        let ids = gone.map(\.partition.id)
        for source in gone { source.isReadable = false }
        await group.listener?.lost(gone.map(\.partition))

        partitions.remove(gone)
        giveUp(ids)
        return ids
    }

    /// Tries again where the coordinator is away or moves. Not where the group has gone on without us, or forms already:
    /// it waits for our answer.
    private func commitBeforeHandover() async {
        // Well below the time the group gives its members to answer (max.poll.interval.ms).
        var end = loop.now + .seconds(5)
        if let leavesBefore = group.leavesBefore { end = min(end, leavesBefore) }
        while true {
            do throws(KafkaError) {
                return try await commits.commit(before: end) { () throws(KafkaError) in try checkIsMember() }
            } catch {
                guard error.isOfCoordinator, loop.now + .milliseconds(200) < end else {
                    log.warning(
                        "offsets of revoked partitions are not committed: what finished last will be done again",
                        metadata: ["reason": "\(error)"])
                    return
                }
            }
            await loop.pause(.milliseconds(200))
        }
    }
}
