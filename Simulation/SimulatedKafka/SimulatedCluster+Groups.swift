/// Groups: membership by either protocol, and offsets.
extension SimulatedCluster {
    // MARK: - The classic protocol

    package func joinGroup(
        _ request: JoinGroupRequest, at broker: Int32? = nil, reply: @escaping (JoinGroupResponse) -> Void
    ) {
        if let error = groupError(request.group, at: broker) {
            return reply(JoinGroupResponse(error: error, memberID: request.memberID))
        }
        let isNew = groups[request.group] == nil
        if isNew, !request.memberID.isEmpty {
            return reply(JoinGroupResponse(error: .unknownMemberID, memberID: request.memberID))
        }
        guard let group = classicGroup(request.group) else {
            return reply(JoinGroupResponse(error: .inconsistentGroupProtocol, memberID: request.memberID))
        }
        group.join(request, at: now, reply: reply)
    }

    package func syncGroup(
        _ request: SyncGroupRequest, at broker: Int32? = nil, reply: @escaping (SyncGroupResponse) -> Void
    ) {
        if let error = groupError(request.group, at: broker) { return reply(SyncGroupResponse(error: error)) }
        guard case .classic(let group) = groups[request.group]?.membership else {
            return reply(SyncGroupResponse(error: .unknownMemberID))
        }
        group.sync(request, at: now, reply: reply)
    }

    package func heartbeat(_ request: HeartbeatRequest, at broker: Int32? = nil) -> PlainResponse {
        if let error = groupError(request.group, at: broker) {
            // Without an error the client tries again, which is all that it can do meanwhile.
            return PlainResponse(error: error == .coordinatorLoadInProgress ? .none : error)
        }
        guard case .classic(let group) = groups[request.group]?.membership else {
            return PlainResponse(error: .unknownMemberID)
        }
        return PlainResponse(error: group.heartbeat(request, at: now))
    }

    package func leaveGroup(_ request: LeaveGroupRequest, at broker: Int32? = nil) -> PlainResponse {
        if let error = groupError(request.group, at: broker) { return PlainResponse(error: error) }
        guard case .classic(let group) = groups[request.group]?.membership else {
            return PlainResponse(error: .unknownMemberID)
        }
        return PlainResponse(error: group.leave(request, at: now))
    }

    // MARK: - KIP-848

    package func consumerGroupHeartbeat(
        _ request: ConsumerGroupHeartbeatRequest, at broker: Int32? = nil
    ) -> ConsumerGroupHeartbeatResponse {
        let refuse = { (error: ErrorCode) in ConsumerGroupHeartbeatResponse(error: error) }
        guard rules.hasConsumerGroups else { return refuse(.unsupportedVersion) }
        if let error = groupError(request.group, at: broker) { return refuse(error) }

        let group: ConsumerGroup
        switch groups[request.group]?.membership {
        case .consumer(let known): group = known
        case .classic(let classic) where !classic.isEmpty: return refuse(.groupIDNotFound)
        case .classic, nil:
            guard request.memberEpoch == 0 else { return refuse(.groupIDNotFound) }
            group = ConsumerGroup(name: request.group, rules: rules)
        }

        let answer = group.heartbeat(
            request,
            topics: { name in
                topics[name].map { ConsumerGroup.TopicSize(id: $0.id, partitions: Int32($0.partitions.count)) }
            }, at: now)
        if answer.error == .none { adopt(.consumer(group), as: request.group) }
        return answer
    }

    // MARK: - Offsets

    package func offsetCommit(_ request: OffsetCommitRequest, at broker: Int32? = nil) -> OffsetCommitResponse {
        var results: [PartitionID: ErrorCode] = [:]
        let error = groupError(request.group, at: broker) ?? commitError(of: request)
        for (partition, offset) in request.offsets {
            let result = error ?? partitionError(partition, offset)
            results[partition] = result == .none ? memberError(request, partition) : result
            if results[partition] == ErrorCode.none { offsets(of: request.group) { $0.commit(offset, of: partition) } }
        }
        return OffsetCommitResponse(results: results)
    }

    /// Returns the error of a commit as a whole.
    private func commitError(of request: OffsetCommitRequest) -> ErrorCode? {
        guard let group = groups[request.group] else {
            if request.member.generation < 0 { return nil }
            return request.version >= 9 ? .groupIDNotFound : .illegalGeneration
        }
        guard case .classic(let members) = group.membership else { return nil }
        let error = members.checkCommit(of: request.member, isTransactional: false, at: now)
        return error == .none ? nil : error
    }

    private func memberError(_ request: OffsetCommitRequest, _ partition: PartitionID) -> ErrorCode {
        guard case .consumer(let members) = groups[request.group]?.membership else { return .none }
        if request.version < 9, !members.isEmpty, members.member(request.member.id) != nil {
            return .unsupportedVersion
        }
        return members.checkCommit(of: request.member, partition: partition, isTransactional: false)
    }

    private func partitionError(_ partition: PartitionID, _ offset: OffsetToCommit) -> ErrorCode {
        if denied.contains(.readTopic(partition.topic)) { return .topicAuthorizationFailed }
        if logState(partition) == nil { return .unknownTopicOrPartition }
        return offset.metadata.utf8.count > rules.maxOffsetMetadataBytes ? .offsetMetadataTooLarge : .none
    }

    package func offsetFetch(_ request: OffsetFetchRequest, at broker: Int32? = nil) -> OffsetFetchResponse {
        if let error = groupError(request.group, at: broker) { return OffsetFetchResponse(error: error) }
        let group = groups[request.group]
        if let member = request.member, case .consumer(let members) = group?.membership {
            let error = members.checkFetch(by: member)
            guard error == .none else { return OffsetFetchResponse(error: error) }
        }

        let asked = request.partitions ?? group.map { Array($0.offsets.committed.keys) } ?? []
        var response = OffsetFetchResponse(error: .none)
        for partition in asked {
            if request.requireStable, group?.offsets.isUnstable(partition) == true {
                response.results[partition] = OffsetFetchResponse.Result(error: .unstableOffsetCommit)
            } else if let committed = group?.offsets.committed[partition] {
                response.results[partition] = OffsetFetchResponse.Result(
                    error: .none, offset: committed.offset.offset,
                    metadata: rules.keepsOffsetMetadata ? committed.offset.metadata : "")
            } else {
                response.results[partition] = OffsetFetchResponse.Result(error: .none)
            }
        }
        return response
    }

    /// Returns the number of joins of a KIP-848 group by clients that were members already.
    package func repeatedJoins(of group: String) -> Int {
        guard case .consumer(let members) = groups[group]?.membership else { return 0 }
        return members.repeatedJoins
    }

    /// Commits offsets in a transaction. They take effect when the transaction's marker is written.
    package func txnOffsetCommit(_ request: TxnOffsetCommitRequest, at broker: Int32? = nil) -> OffsetCommitResponse {
        var results: [PartitionID: ErrorCode] = [:]
        let error = groupError(request.group, at: broker) ?? commitError(of: request)
        let producer = request.transaction.producer.id
        for (partition, offset) in request.offsets {
            var result = error ?? partitionError(partition, offset)
            if result == .none, case .consumer(let members) = groups[request.group]?.membership {
                result = members.checkCommit(of: request.member, partition: partition, isTransactional: true)
            }
            results[partition] = result
            guard result == .none else { continue }
            offsets(of: request.group) { $0.commit(offset, of: partition, inTransactionOf: producer) }
        }
        return OffsetCommitResponse(results: results)
    }

    private func commitError(of request: TxnOffsetCommitRequest) -> ErrorCode? {
        if let error = verify(request) { return error }
        guard let group = groups[request.group] else {
            return request.member.generation < 0 ? nil : .illegalGeneration
        }
        guard case .classic(let members) = group.membership else { return nil }
        let error = members.checkCommit(of: request.member, isTransactional: true, at: now)
        return error == .none ? nil : error
    }

    // MARK: - Finding groups

    private func groupError(_ name: String, at broker: Int32?) -> ErrorCode? {
        if denied.contains(.readGroup(name)) { return .groupAuthorizationFailed }
        if name.isEmpty { return .invalidGroupID }
        return coordinatorError(.group(name), at: broker)
    }

    private func adopt(_ membership: GroupState.Membership, as name: String) {
        if let group = groups[name] {
            group.membership = membership
        } else {
            groups[name] = GroupState(name: name, membership: membership)
        }
    }

    /// Returns the group. Creates it if it is new, or if it is of the other protocol and has no members.
    private func classicGroup(_ name: String) -> ClassicGroup? {
        switch groups[name]?.membership {
        case .classic(let group): return group
        case .consumer(let group) where !group.isEmpty: return nil
        case .consumer, nil:
            let group = ClassicGroup(name: name, rules: rules) { [unowned self] in makeMemberID("member") }
            adopt(.classic(group), as: name)
            return group
        }
    }

    /// Changes a group's offsets. A group may have offsets without ever having had a member.
    func offsets(of name: String, _ change: (inout GroupOffsets) -> Void) {
        if groups[name] == nil { _ = classicGroup(name) }
        guard let group = groups[name] else { return }
        change(&group.offsets)
    }

    /// Returns the generation or epoch of a group, for checks.
    package func generation(of group: String) -> Int32? {
        switch groups[group]?.membership {
        case .classic(let group): group.generation
        case .consumer(let group): group.epoch
        case nil: nil
        }
    }

    /// Returns the members of a group in the order in which they joined, for checks.
    package func members(of group: String) -> [String] {
        switch groups[group]?.membership {
        case .classic(let group): group.members.map(\.id)
        case .consumer(let group): group.members.map(\.id)
        case nil: []
        }
    }

    /// Returns the committed offsets of a group, for checks.
    package func committed(by group: String) -> [PartitionID: Int64] { commits(by: group).mapValues(\.offset) }

    /// Returns the committed offsets of a group with their metadata.
    package func commits(by group: String) -> [PartitionID: OffsetToCommit] {
        (groups[group]?.offsets.committed ?? [:]).mapValues { committed in
            rules.keepsOffsetMetadata ? committed.offset : OffsetToCommit(committed.offset.offset)
        }
    }

    /// Returns the highest offset of each partition that open transactions are about to commit, for checks.
    package func pendingCommits(by group: String) -> [PartitionID: OffsetToCommit] {
        (groups[group]?.offsets.pending ?? [:]).values.reduce(into: [:]) { all, pending in
            all.merge(pending.mapValues(\.offset)) { $0.offset > $1.offset ? $0 : $1 }
        }
    }
}
