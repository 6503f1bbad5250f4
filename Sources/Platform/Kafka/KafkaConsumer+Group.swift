internal import Basics
internal import EventLoop
internal import Logging

/// Rebalances: the listener is called before librdkafka gets its answer.
extension KafkaConsumer {
    /// The state of this member's group membership.
    struct Group {
        weak var listener: (any RebalanceListener)?
        /// The subscribed topics.
        var topics: Set<String> = []
        /// The last assigned partitions of topics that were not subscribed to. They have been logged.
        var foreign: Set<TopicPartition> = []
        /// True from an assignment until the partitions are lost.
        var isAssigned = false
        /// The member id at the last assignment; `nil` before the first one, or if librdkafka does not provide it.
        var memberID: String?
        /// The generation of the last rebalance event: the last one whose assignment this member knows. `nil` before
        /// the first event, or if librdkafka does not provide it.
        var generation: Int32?
        /// Why the group does not admit the member, as one line for operators; `nil` again after the next rebalance
        /// event.
        var refusal: String?
        /// True from the answer to a revocation until the next assignment.
        var isRejoining = false
        var offsetLookup = OffsetLookup()
        /// The deadline for the commit before a revocation while the consumer closes; `nil` while it stays in the
        /// group.
        var leavesBefore: Instant?
        /// True until librdkafka has received the answer to an assignment.
        var isAssigning = false
        var startSearch = StartSearch()
        var resets = Resets()
        /// Answers the last rebalance. The client may not be destroyed before this task has ended.
        var answer: Task<Void, Never>?
    }

    /// The lookup of the partitions' offsets.
    struct OffsetLookup {
        /// `nil` while no lookup is running.
        var task: Task<Void, Never>?
        /// `nil`: there was no lookup yet.
        var next: Instant?
        /// When to look up the partitions' end offsets again; `nil` before the first lookup.
        var nextOfEnds: Instant?
    }

    /// The handling of offset resets.
    struct Resets {
        /// Decides how reading continues; `nil` while there are none.
        var task: Task<Void, Never>?
        /// The resets not yet reported.
        var unreported: [OffsetResets.Reset] = []
        /// The earliest time of the next report; `nil` until one has failed.
        var nextReport: Instant?
    }

    /// The lookup of pending start offsets.
    struct StartSearch {
        /// `nil` while no lookup is running.
        var task: Task<Void, Never>?
        /// True from the warning that start offsets are unknown until they are known.
        var hasWarned = false
    }

    /// The current membership, under which partitions are assigned. `nil` before the first assignment, after the
    /// partitions were lost, and in a generation whose assignment has not arrived.
    ///
    /// It is read at each call, because brokers reject offsets from an older generation. The answer to JoinGroup begins
    /// a new one. Only the answer to SyncGroup names the partitions that the member has lost. Until then, brokers would
    /// accept offsets of partitions that other members own. librdkafka reports each assignment, even an unchanged one.
    ///
    /// With KIP-848, the member's epoch rises without events while its partitions stay. Brokers do not assign a partition
    /// to another member before this one has released it.
    ///
    /// A caller that commits partitions must still own them after this call.
    public var membership: GroupMembership? {
        guard group.isAssigned, !isClosed, let membership = GroupMembership(of: client) else { return nil }
        if let former = group.memberID, former != membership.name?.memberID { return nil }
        if !brokersAssign, group.generation != membership.name?.generation { return nil }

        // Checked last: an expelled member may already be in a new generation, in which other members own its
        // partitions.
        return client.isAssignmentLost ? nil : membership
    }

    /// True if the group expelled the member and has admitted it under another id, or is about to.
    ///
    /// librdkafka (all versions up to 2.16) does not report this as a loss if a static member of a cooperative group
    /// learns of it from a JoinGroup response. The partitions then stay assigned, although other members may have owned
    /// them in between.
    ///
    /// Always false for a member that is leaving: see `reply`.
    private var wasThrownOut: Bool {
        guard !isClosed, let former = group.memberID, !partitions.inOrder.isEmpty,
            let present = GroupMembership.name(of: client)?.memberID
        else { return false }
        return present != former
    }

    /// Fetches the group's committed offsets. Waits for offsets that an open transaction is about to commit.
    /// - Parameter assigned: Partitions, including those whose assignment has ended.
    /// - Returns: No entry for a partition without a committed offset.
    /// - Throws: Why the brokers did not answer within `bound`; retrying is safe.
    public func committedOffsets(
        of assigned: [AssignedPartition], within bound: Duration
    ) async throws(KafkaError) -> [AssignedPartition: CommittedOffset] {
        guard !isClosed else { throw .closed }
        // The client reads committed records only, so librdkafka requests stable offsets (KIP-447).
        let committed = try await client.commits(of: assigned.map(\.id), within: bound)
        let known = assigned.compactMap { partition in committed[partition.id].map { (partition, $0) } }
        return Dictionary(known) { _, latest in latest }
    }

    /// Why the group does not admit this member, as one line for operators; `nil` if it has not refused.
    public var groupRefusal: String? { group.refusal }

    /// True while no broker answers.
    public var brokersAreDown: Bool { brokers.areDown }

    /// Fetches the number of partitions of a topic.
    /// - Returns: `nil` if no broker answers within 2 seconds, or the topic does not exist.
    public func partitionCount(of topic: String) async -> Int? {
        guard !isClosed else { return nil }
        return await client.partitionCount(of: topic)
    }

    /// Fetches the names of all topics that this user may describe. Creates none.
    /// - Returns: `nil` if no broker answers within 2 seconds.
    package func existingTopics() async -> Set<String>? {
        guard !isClosed, let cluster = try? await client.cluster(within: .seconds(2)) else { return nil }
        return Set(cluster.topics.keys)
    }

    /// Asks the brokers whether a topic is usable, within 2 seconds.
    public func diagnosis(of topic: String) async -> TopicDiagnosis {
        guard !isClosed else { return .noBrokerAnswers }
        return await client.diagnosis(of: topic)
    }

    func answer(_ event: RebalanceEvent) async {
        let start = loop.now
        let name = isClosed ? nil : GroupMembership.name(of: client)
        group.generation = name?.generation
        switch event.change {
        case .assigned:
            let kept = await loseUnnoticed()
            group.isAssigned = true
            if let name { group.memberID = name.memberID }
            let own = leaveForeign(event.partitions) + kept
            await assign(own)
            await notifyListener(of: .assigned, about: own, since: start)
            group.isRejoining = false
            if !isClosed, client.isCooperative { await wakeFetchers() }
        case .revoked:
            // A new assignment may arrive without a revocation in between.
            group.isRejoining = false
            let own = event.partitions.filter { group.topics.contains($0.topic) }
            let kind = await revoke(own)
            await notifyListener(of: kind, about: own, since: start)
        case .failed(let error):
            log.warning("rebalance failed", metadata: ["reason": "\(error)"])
            reply { $0.unassignAll() }
        }
    }

    /// Returns the partitions of subscribed topics. The others are neither read nor reported to the group as owned.
    ///
    /// A broker that assigns partitions of other topics is faulty. If the worker read them, it could treat its own
    /// outcomes as requests. This is logged once, and again only if other partitions are affected.
    private func leaveForeign(_ partitions: [TopicPartition]) -> [TopicPartition] {
        let foreign = Set(partitions.filter { !group.topics.contains($0.topic) })
        if !foreign.isEmpty, !foreign.isSubset(of: group.foreign) {
            log.error(
                "the group assigned partitions of topics outside the subscription; they are released unread",
                metadata: ["partitions": "\(foreign.map(\.description).sorted())"])
        }
        if !foreign.isEmpty { group.foreign = foreign }
        return partitions.filter { !foreign.contains($0) }
    }

    private func notifyListener(of kind: RebalanceKind, about ids: [TopicPartition], since start: Instant) async {
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
        for source in added { if let start = starts[source.partition.id] { partitions.begin(source, at: start) } }
        reply { client throws(KafkaError) in try client.assign(ids.map { (id: $0, start: starts[$0] ?? .unknown) }) }

        lookUpOffsets()
        wakeReader()
    }

    /// Wakes librdkafka's broker threads after an assignment. librdkafka pauses all partitions while it applies an
    /// assignment, even those that stay. It does not notify its broker threads at the end: they poll within a second,
    /// and read nothing until then. A query for the partitions' end offsets passes through the same threads, and wakes
    /// them.
    private func wakeFetchers() async {
        let ids = partitions.inOrder.map(\.partition.id)
        guard !ids.isEmpty, !isClosed else { return }
        // The result is unused; sending the query is enough.
        _ = try? await client.offsets(.end, of: ids, within: .milliseconds(200))
    }

    /// - Returns: Whether the partitions were revoked or lost.
    private func revoke(_ ids: [TopicPartition]) async -> RebalanceKind {
        // Checked before any assign call, because that call clears the flag.
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
        confirmUnassignment(ids)
        return isLost ? .lost : .revoked
    }

    private func confirmUnassignment(_ ids: [TopicPartition]) {
        reply { client throws(KafkaError) in try client.unassign(ids) }
    }

    /// Gives librdkafka its answer to a rebalance event.
    ///
    /// While the consumer leaves its group, librdkafka waits for the answer to a revocation before it sends the LeaveGroup
    /// request; some versions do not wait for the answer to an assignment. If the membership has just ended, librdkafka
    /// (all versions up to 2.16) drops the answer, and the call never returns. Therefore the thread that later frees the
    /// client makes this call, not the event loop.
    private func reply(_ answer: @escaping @Sendable (ClientHandle) throws(KafkaError) -> Void) {
        // An error no longer matters to a member that leaves.
        if isClosed { return client.blocking.start { [client] in try? answer(client) } }
        do throws(KafkaError) {
            try answer(client)
        } catch {
            log.error("rebalance", metadata: ["reason": "\(error)"])
        }
    }

    /// Gives up partitions that were assigned to the member under its former id.
    /// - Returns: These partitions, which the group still assigns to this member. They must be assigned again, so that
    ///   reading begins at the committed offsets.
    private func loseUnnoticed() async -> [TopicPartition] {
        guard !isClosed, client.isCooperative, wasThrownOut else { return [] }
        let gone = partitions.inOrder
        let ids = gone.map(\.partition.id)
        for source in gone { source.isReadable = false }
        await group.listener?.lost(gone.map(\.partition))

        partitions.remove(gone)
        confirmUnassignment(ids)
        return ids
    }

    /// Commits the offsets of revoked partitions. Retries while the coordinator is unavailable or moves. Does not retry
    /// if the group has expelled this member, or is already rebalancing: then it waits for this member's answer.
    private func commitBeforeHandover() async {
        // Well below the time that the group allows its members for an answer (max.poll.interval.ms).
        var end = loop.now + .seconds(5)
        if let leavesBefore = group.leavesBefore { end = min(end, leavesBefore) }
        while true {
            do throws(KafkaError) {
                return try await commits.commit(before: end) { () throws(KafkaError) in try checkIsMember() }
            } catch {
                guard error.isOfCoordinator, loop.now + .milliseconds(200) < end else {
                    log.warning(
                        "offsets of revoked partitions were not committed: their last requests will be processed again",
                        metadata: ["reason": "\(error)"])
                    return
                }
            }
            await loop.pause(.milliseconds(200))
        }
    }
}
