internal import Kafka
internal import SimulatedKafka

/// Membership of a classic group, in the order of librdkafka's events.
extension SimulatedConsumer {
    // MARK: - Heartbeats

    func startHeartbeats() {
        link.after(heartbeatInterval) { [weak self] in
            guard let self, !isClosed else { return }
            checkSession()
            if settings.groupProtocol == .classic { sendHeartbeat() } else { sendModernHeartbeat() }
            startHeartbeats()
        }
    }

    /// Ends the session in the client if no heartbeat was answered within the session timeout.
    private func checkSession() {
        guard settings.groupProtocol == .classic, generation >= 0, joinState == .steady || joinState == .answering,
            now - lastHeartbeat > settings.sessionTimeout
        else { return }
        memberID = ""
        loseEverything()
    }

    private func sendHeartbeat() {
        guard joinState == .steady || joinState == .answering, generation >= 0, !isLost, !isHeartbeatUnderway else {
            return
        }
        isHeartbeatUnderway = true
        let (request, beat) = (HeartbeatRequest(settings.group, as: member), generation)
        link.askCoordinator(
            groupKey, .heartbeat, within: settings.sessionTimeout,
            error: { (answer: PlainResponse) in answer.error }, { $2($0.heartbeat(request, at: $1)) }
        ) { [weak self] result in
            guard let self else { return }
            isHeartbeatUnderway = false
            guard beat == generation else { return }
            switch result {
            case .success: lastHeartbeat = now
            case .failure(.code(let code)): take(heartbeatError: code)
            case .failure: break
            }
        }
    }

    private func take(heartbeatError code: ErrorCode) {
        switch code {
        case .rebalanceInProgress:
            lastHeartbeat = now
            if joinState == .steady { rebalance() }
        case .illegalGeneration:
            generation = -1
            loseEverything()
        case .unknownMemberID:
            memberID = ""
            loseEverything()
        case .fencedInstanceID, .groupAuthorizationFailed: failMembership(code)
        default: break
        }
    }

    func failMembership(_ code: ErrorCode) {
        let isFenced = code == .fencedInstanceID || code == .unreleasedInstanceID
        let error = KafkaError(librdkafkaCode: Int32(code.rawValue), doing: "group")
        fail(isFenced ? error : KafkaError(.fatal, code: error.code, error.description))
    }

    /// Rejoins during a rebalance. A cooperative member joins with its partitions; an eager one revokes them all first.
    private func rebalance() {
        if settings.isCooperative { return join() }
        revoke(inOrder.map(\.id)) { [weak self] in self?.join() }
    }

    /// Rejoins if the number of partitions of a topic has changed, or the topic is gone. With KIP-848 the brokers do that.
    func joinForNewPartitions() {
        guard settings.groupProtocol == .classic else { return }
        let counts = link.partitionCounts.filter { topics.contains($0.key) }
        guard let joinedCounts else { return joinedCounts = counts.isEmpty ? nil : counts }
        guard counts != joinedCounts, joinState == .steady, !isLost, commits.leavesBefore == nil else { return }
        self.joinedCounts = counts
        // A cooperative member loses the partitions of a topic that is gone: `rd_kafka_cgrp_metadata_update_check`.
        if counts.isEmpty, settings.isCooperative { return loseEverything() }
        rebalance()
    }

    /// Loses all partitions, because the group has gone on without this member.
    func loseEverything() {
        guard !isLost else { return }
        // A member that leaves is about to revoke everything in any case.
        if commits.leavesBefore != nil { return generation = -1 }
        isLost = !sources.isEmpty
        attempt += 1
        whenAnswered { [weak self] in
            guard let self else { return }
            guard isLost else { return join() }
            revoke(inOrder.map(\.id)) { [weak self] in self?.join() }
        }
    }

    // MARK: - JoinGroup and SyncGroup

    func join() {
        guard !isClosed, commits.leavesBefore == nil, failure == nil else { return }
        if settings.groupProtocol == .consumer { return joinModern() }
        joinState = .joining
        attempt += 1
        var request = JoinGroupRequest(
            settings.group, protocols: [.init(settings.assignor.rawValue, subscription.bytes)])
        request.memberID = memberID
        request.instanceID = settings.instanceID
        request.sessionTimeout = settings.sessionTimeout
        request.rebalanceTimeout = settings.maxPollInterval

        let current = attempt
        joinsSince = joinsSince ?? now
        // A worker retries a rejected commit five times a second.
        if let assignedAt, now - assignedAt > 300 * ClusterRules.millisecond { unassignedSince = nil }
        (unassignedSince, assignedAt) = (unassignedSince ?? now, nil)
        let error = { (answer: JoinGroupResponse) in answer.error == .memberIDRequired ? .none : answer.error }
        link.askCoordinator(
            groupKey, .joinGroup, within: settings.maxPollInterval + 3 * ClusterRules.second, error: error,
            { $0.joinGroup(request, at: $1, reply: $2) }
        ) { [weak self] result in
            guard let self else { return }
            joinsSince = nil
            guard current == attempt else { return }
            switch result {
            case .success(let answer) where answer.error == .memberIDRequired:
                memberID = answer.memberID
                // A newcomer has no partitions. A member with partitions was removed from the group, and librdkafka notices that here.
                if sources.isEmpty { join() } else { loseEverything() }
            case .success(let answer): take(answer)
            case .failure(let failure): take(joinFailure: failure)
            }
        }
    }

    private var subscription: MemberSubscription {
        guard settings.isCooperative else { return MemberSubscription(topics: topics) }
        return MemberSubscription(topics: topics, owned: sources.keys.sorted(), generation: assignmentGeneration)
    }

    private func take(syncFailure failure: ClientFailure) {
        let isOut = failure == .code(.unknownMemberID) || failure == .code(.illegalGeneration)
        guard isOut, !sources.isEmpty else { return take(joinFailure: failure) }
        if failure == .code(.unknownMemberID) { memberID = "" } else { generation = -1 }
        loseEverything()
    }

    private func take(joinFailure failure: ClientFailure) {
        switch failure {
        case .code(.unknownMemberID): memberID = ""
        case .code(.illegalGeneration):
            generation = -1
            if !sources.isEmpty { return loseEverything() }
        case .code(.fencedInstanceID), .code(.groupAuthorizationFailed):
            if case .code(let code) = failure { return failMembership(code) }
        default: break
        }
        rejoinSoon()
    }

    private func rejoinSoon() {
        let current = attempt
        link.after(ClientLink.backoff) { [weak self] in
            if let self, current == attempt { join() }
        }
    }

    private func take(_ answer: JoinGroupResponse) {
        memberID = answer.memberID
        // From here on the member's generation is the new one, also for partitions of the old assignment.
        generation = answer.generation
        joinState = .syncing
        let current = attempt
        guard !answer.members.isEmpty else { return sync([:]) }

        let members = answer.members.map { (id: $0.id, subscription: MemberSubscription(bytes: $0.metadata)) }
        let all = Set(members.flatMap(\.subscription.topics)).sorted()
        link.refresh(all) { [weak self] hasAnswer in
            guard let self, current == attempt else { return }
            guard hasAnswer else { return rejoinSoon() }
            var counts: [String: Int32] = [:]
            for topic in all { counts[topic] = link.partitionCounts[topic] }
            // If a topic is missing at this moment, the group rebalances when it is back.
            joinedCounts = counts.filter { self.topics.contains($0.key) }
            let shares = Assignors.share(counts, among: members, by: settings.assignor)
            sync(shares.mapValues(MemberSubscription.encode))
        }
    }

    private func sync(_ assignments: [String: [UInt8]]) {
        let (request, current) = (SyncGroupRequest(settings.group, as: member, assignments: assignments), attempt)
        link.askCoordinator(
            groupKey, .syncGroup, within: settings.maxPollInterval, unless: { [weak self] in self?.attempt != current },
            error: { (answer: SyncGroupResponse) in answer.error },
            { $0.syncGroup(request, at: $1, reply: $2) }
        ) { [weak self] result in
            guard let self, current == attempt else { return }
            switch result {
            case .success(let answer):
                lastHeartbeat = now
                assignedAt = now
                assignmentGeneration = generation
                take(assignment: MemberSubscription.decode(assignment: answer.assignment))
            case .failure(let failure): take(syncFailure: failure)
            }
        }
    }

    private func take(assignment: [PartitionID]) {
        guard settings.isCooperative else { return assign(assignment) { [weak self] in self?.settle() } }

        let wanted = Set(assignment)
        let gone = sources.keys.filter { !wanted.contains($0) }.sorted()
        let added = assignment.filter { sources[$0] == nil }
        guard !gone.isEmpty else { return assign(added) { [weak self] in self?.settle() } }

        // Revoked partitions can be assigned only in another generation.
        revoke(gone) { [weak self] in
            guard let self else { return }
            if added.isEmpty { join() } else { assign(added) { [weak self] in self?.join() } }
        }
    }

    func settle() { joinState = .steady }

    // MARK: - The handler

    /// Runs a function now, or after the handler has answered the current event. The handler has one event at a time.
    func whenAnswered(_ body: @escaping () -> Void) {
        if joinState == .answering { next = body } else { body() }
    }

    private func finishAnswer(_ then: () -> Void) {
        guard !isClosed else { return }
        joinState = .out
        if let next {
            self.next = nil
            next()
        } else {
            then()
        }
    }

    /// Reports new partitions to the handler, and begins to fetch them once it has answered.
    func assign(_ ids: [PartitionID], then: @escaping () -> Void) {
        guard !isClosed else { return }
        joinState = .answering
        eventGeneration = generation
        if wasThrownOut {
            return loseUnnoticed { [weak self] kept in self?.assign(ids + kept.filter { !ids.contains($0) }, then: then)
            }
        }
        assignedAs = memberID
        isAssigned = true
        let start = now
        if !ids.isEmpty { epoch += 1 }
        let added = ids.filter { topics.contains($0.topic) }.map { Source($0, epoch: epoch) }
        for source in added { sources[source.id] = source }

        let finish = { [weak self] in
            guard let self, !isClosed else { return }
            for source in added { source.isFetched = true }
            findPositions(of: added)
            if !ids.isEmpty { handler?.answered(.assigned, after: now - start) }
            isRejoining = false
            onNews()
            finishAnswer(then)
        }
        guard let handler else { return finish() }
        handler.assigned(added.map(\.partition), then: finish)
    }

    /// Reports to the handler that the partitions under the member's former id are lost.
    /// - Parameter then: Called with these partitions, which still belong to the member, or belong to it again.
    private func loseUnnoticed(then: @escaping ([PartitionID]) -> Void) {
        let gone = inOrder
        for source in gone { source.isReadable = false }
        let finish = { [weak self] in
            guard let self, !isClosed else { return }
            for source in gone where sources[source.id] === source { sources[source.id] = nil }
            then(gone.map(\.id))
        }
        guard let handler else { return finish() }
        handler.lost(gone.map(\.partition), then: finish)
    }

    /// Lets the handler revoke partitions, commits the stored offsets, and releases the partitions.
    func revoke(_ ids: [PartitionID], then: @escaping () -> Void) {
        guard !isClosed else { return }
        let gone = ids.compactMap { sources[$0] }
        guard !gone.isEmpty || isLost else { return then() }
        joinState = .answering
        eventGeneration = generation
        for source in gone { source.isReadable = false }
        let (start, kind) = (now, isLost || wasThrownOut ? RebalanceKind.lost : .revoked)

        let finish = { [weak self] in
            guard let self, !isClosed else { return }
            isRejoining = true
            for source in gone where sources[source.id] === source { sources[source.id] = nil }
            // A loss during an ordinary revocation still has to be reported.
            if kind == .lost { isLost = false }
            mustReportOwned = true
            handler?.answered(kind, after: now - start)
            finishAnswer(then)
        }
        guard kind == .lost else {
            let commitAndFinish = { [weak self] in
                guard let self, !isClosed else { return }
                commitBeforeHandover(then: finish)
            }
            guard let handler else { return commitAndFinish() }
            return handler.revoked(gone.map(\.partition), then: commitAndFinish)
        }
        isAssigned = false
        guard let handler else { return finish() }
        handler.lost(gone.map(\.partition), then: finish)
    }
}
