/// A KIP-848 group: the coordinator computes the assignment and moves each member towards its target, one heartbeat at a time.
final class ConsumerGroup {
    enum State: Hashable {
        case stable
        /// The member was asked to revoke partitions, and has not confirmed that yet.
        case unrevoked
        /// Partitions of the member's target still belong to others.
        case unreleased
    }

    struct Member {
        let id: String
        var instanceID: String?
        var epoch: Int32 = 0
        var previousEpoch: Int32 = -1
        var state = State.stable
        /// The member's partitions, each with the epoch in which it was assigned.
        var assigned: [PartitionID: Int32] = [:]
        var pendingRevocation: Set<PartitionID> = []
        var topics: [String] = []
        var rebalanceTimeout: Int64 = 300 * ClusterRules.second
        var sessionEnd: Int64?
        /// The time at which the member is removed unless it has confirmed the revocation.
        var revocationEnd: Int64?
    }

    let name: String
    private let rules: ClusterRules
    /// The group's epoch, which rises with every change of members and topics.
    private(set) var epoch: Int32 = 0
    /// The group epoch for which the target was computed. Members move towards this one.
    private var targetEpoch: Int32 = 0
    /// The time at which the target was computed; `nil`: never.
    private var targetTime: Int64?
    private(set) var members: [Member] = []
    /// The number of joins by clients that were members already.
    ///
    /// A client that abandoned such a request never learns which partitions its answer named, because answers to
    /// heartbeats name them only when they change.
    private(set) var repeatedJoins = 0
    private var target: [String: Set<PartitionID>] = [:]
    /// The topics as they were when the target was computed.
    private var knownTopics: [String: TopicSize] = [:]

    struct TopicSize: Hashable {
        var id: UInt64
        var partitions: Int32
    }

    init(name: String, rules: ClusterRules) {
        self.name = name
        self.rules = rules
    }

    var isEmpty: Bool { members.isEmpty }

    func member(_ id: String) -> Member? { members.first { $0.id == id } }

    // MARK: - Time

    var nextDeadline: Int64? {
        var next: Int64?
        for index in members.indices {
            next.lower(to: members[index].sessionEnd)
            next.lower(to: members[index].revocationEnd)
        }
        return next
    }

    func fire(at now: Int64) {
        let isOver = { (end: Int64?) in (end ?? .max) <= now }
        let gone = members.filter { isOver($0.sessionEnd) || isOver($0.revocationEnd) }
        guard !gone.isEmpty else { return }
        remove(gone)
    }

    /// Removes members. The next heartbeat of any other member computes the target without them.
    private func remove(_ gone: [Member]) {
        for member in gone { target[member.id] = nil }
        members.removeAll { member in gone.contains { $0.id == member.id } }
        epoch += 1
    }

    /// Acts as a new coordinator, which knows the members and their partitions, and gives each member a full session.
    func reload(at now: Int64) {
        for index in members.indices {
            members[index].sessionEnd = now + rules.consumerSessionTimeout
            guard members[index].revocationEnd != nil else { continue }
            members[index].revocationEnd = now + members[index].rebalanceTimeout
        }
    }

    // MARK: - Heartbeats

    func heartbeat(
        _ request: ConsumerGroupHeartbeatRequest, topics: (String) -> TopicSize?, at now: Int64
    ) -> ConsumerGroupHeartbeatResponse {
        if let error = shapeError(of: request) { return refusal(error) }
        if request.memberEpoch < 0 { return leave(request, at: now) }

        var member: Member
        switch findOrAdd(request) {
        case .success(let found): member = found
        case .failure(let error): return refusal(error)
        }
        let before = member
        member.topics = request.topics.map { $0.sorted() } ?? member.topics
        member.rebalanceTimeout = request.rebalanceTimeout ?? member.rebalanceTimeout
        member.sessionEnd = now + rules.consumerSessionTimeout
        store(member)

        let sizes = sizes(of: topics)
        if member.topics != before.topics || sizes != knownTopics {
            knownTopics = sizes
            epoch += 1
        }
        updateTarget(at: now)

        reconcile(&member, owned: request.owned, at: now)
        store(member)

        var answer = ConsumerGroupHeartbeatResponse(
            error: .none, memberID: member.id, memberEpoch: member.epoch,
            heartbeatInterval: rules.consumerHeartbeatInterval)
        let isFull =
            request.memberEpoch == 0
            || (request.rebalanceTimeout != nil && request.topics != nil && request.owned != nil)
        if isFull || Set(member.assigned.keys) != Set(before.assigned.keys) {
            answer.assignment = member.assigned.keys.sorted()
        }
        return answer
    }

    private func refusal(_ error: ErrorCode) -> ConsumerGroupHeartbeatResponse {
        ConsumerGroupHeartbeatResponse(error: error)
    }

    private func shapeError(of request: ConsumerGroupHeartbeatRequest) -> ErrorCode? {
        if request.group.isEmpty || request.memberID.isEmpty || request.memberEpoch < -2 { return .invalidRequest }
        if request.memberEpoch == ConsumerGroupHeartbeatRequest.leaveForAWhile, request.instanceID == nil {
            return .invalidRequest
        }
        if request.memberEpoch == 0 {
            let isComplete =
                request.rebalanceTimeout != nil && request.owned == [] && !(request.topics ?? []).isEmpty
            if !isComplete { return .invalidRequest }
        }
        if let assignor = request.serverAssignor, assignor != "uniform", assignor != "range" {
            return .unsupportedAssignor
        }
        return nil
    }

    private func findOrAdd(_ request: ConsumerGroupHeartbeatRequest) -> Result<Member, ErrorCode> {
        if let instance = request.instanceID { return findOrAddStatic(request, instance: instance) }
        if let member = member(request.memberID) { return checkEpoch(of: member, request) }
        guard request.memberEpoch == 0 else { return .failure(.unknownMemberID) }
        return add(Member(id: request.memberID))
    }

    private func findOrAddStatic(
        _ request: ConsumerGroupHeartbeatRequest, instance: String
    ) -> Result<Member, ErrorCode> {
        guard let former = members.first(where: { $0.instanceID == instance }) else {
            guard request.memberEpoch == 0 else { return .failure(.unknownMemberID) }
            return add(Member(id: request.memberID, instanceID: instance))
        }
        if former.id == request.memberID { return checkEpoch(of: former, request) }
        guard request.memberEpoch == 0 else { return .failure(.fencedInstanceID) }
        guard former.epoch == ConsumerGroupHeartbeatRequest.leaveForAWhile else {
            return .failure(.unreleasedInstanceID)
        }

        // The new process continues with the state of the former one.
        var member = Member(id: request.memberID, instanceID: instance)
        member.assigned = former.assigned
        member.topics = former.topics
        member.previousEpoch = former.previousEpoch
        target[member.id] = target.removeValue(forKey: former.id)
        members.removeAll { $0.id == former.id }
        members.append(member)
        return .success(member)
    }

    private func add(_ member: Member) -> Result<Member, ErrorCode> {
        guard members.count < rules.maxGroupSize else { return .failure(.groupMaxSizeReached) }
        members.append(member)
        return .success(member)
    }

    private func checkEpoch(
        of member: Member, _ request: ConsumerGroupHeartbeatRequest
    ) -> Result<Member, ErrorCode> {
        // A member may join again, and then has none of its former partitions.
        if request.memberEpoch == 0 {
            repeatedJoins += 1
            return .success(member)
        }
        if request.memberEpoch == member.epoch { return .success(member) }
        if request.memberEpoch > member.epoch { return .failure(.fencedMemberEpoch) }

        // The answer with the newer epoch may have been lost.
        let ownsOnlyItsOwn = request.owned?.allSatisfy { member.assigned[$0] != nil } ?? false
        return request.memberEpoch == member.previousEpoch && ownsOnlyItsOwn
            ? .success(member) : .failure(.fencedMemberEpoch)
    }

    private func leave(_ request: ConsumerGroupHeartbeatRequest, at now: Int64) -> ConsumerGroupHeartbeatResponse {
        let found = request.instanceID.map { instance in members.first { $0.instanceID == instance } }
        guard let member = found ?? member(request.memberID) else { return refusal(.unknownMemberID) }
        guard member.id == request.memberID else { return refusal(.fencedInstanceID) }

        if request.memberEpoch == ConsumerGroupHeartbeatRequest.leaveForAWhile {
            var member = member
            member.previousEpoch = member.epoch
            member.epoch = ConsumerGroupHeartbeatRequest.leaveForAWhile
            member.pendingRevocation = []
            member.revocationEnd = nil
            store(member)
        } else {
            remove([member])
        }
        return ConsumerGroupHeartbeatResponse(
            error: .none, memberID: member.id, memberEpoch: request.memberEpoch)
    }

    private func store(_ member: Member) {
        guard let index = members.firstIndex(where: { $0.id == member.id }) else { return }
        members[index] = member
    }

    // MARK: - Targets

    private func sizes(of topics: (String) -> TopicSize?) -> [String: TopicSize] {
        var sizes: [String: TopicSize] = [:]
        for name in Set(members.flatMap(\.topics)) { sizes[name] = topics(name) }
        return sizes
    }

    /// Computes the target if it is out of date, unless the last computation was too recent.
    private func updateTarget(at now: Int64) {
        if targetEpoch >= epoch { return }
        let interval = rules.consumerAssignmentInterval
        if let targetTime, interval > 0, now < targetTime + interval { return }

        computeTarget()
        targetEpoch = epoch
        targetTime = now
    }

    /// Distributes all partitions evenly, and leaves with each member as much of its former target as fits.
    private func computeTarget() {
        var next: [String: Set<PartitionID>] = [:]
        var load: [String: Int] = [:]
        for member in members { (next[member.id], load[member.id]) = ([], 0) }

        for topic in knownTopics.keys.sorted() {
            let readers = members.filter { $0.topics.contains(topic) }.map(\.id).sorted()
            guard !readers.isEmpty, let count = knownTopics[topic]?.partitions else { continue }
            let share = Int(count) / readers.count
            var extra = Int(count) % readers.count
            var free: [PartitionID] = []
            var taken: [String: Int] = [:]

            for number in 0..<count {
                let partition = PartitionID(topic, number)
                let holder = readers.first { target[$0]?.contains(partition) == true }
                guard let holder, taken[holder, default: 0] < share + (extra > 0 ? 1 : 0) else {
                    free.append(partition)
                    continue
                }
                if taken[holder, default: 0] == share { extra -= 1 }
                taken[holder, default: 0] += 1
                next[holder, default: []].insert(partition)
            }
            for partition in free {
                let reader = readers.min {
                    (taken[$0, default: 0], load[$0] ?? 0, $0) < (taken[$1, default: 0], load[$1] ?? 0, $1)
                }
                guard let reader else { continue }
                taken[reader, default: 0] += 1
                next[reader, default: []].insert(partition)
            }
            for (reader, count) in taken { load[reader, default: 0] += count }
        }
        target = next
    }

    // MARK: - Reconciliation

    private func isOwned(_ partition: PartitionID, besides id: String) -> Bool {
        members.contains {
            $0.id != id && ($0.assigned[partition] != nil || $0.pendingRevocation.contains(partition))
        }
    }

    private func reconcile(_ member: inout Member, owned: [PartitionID]?, at now: Int64) {
        let before = (epoch: member.epoch, state: member.state)
        switch member.state {
        case .stable:
            if member.epoch != targetEpoch { moveOn(&member, from: member.epoch, owned: owned) }
        case .unrevoked:
            if owned?.contains(where: member.pendingRevocation.contains) ?? true { return }
            // If commits with every epoch since the assignment are accepted, a member that has more to revoke stays in its epoch.
            let next = rules.memberEpochCheck == .equal ? member.epoch + 1 : member.epoch
            moveOn(&member, from: next, owned: owned)
        case .unreleased:
            moveOn(&member, from: member.epoch, owned: owned)
        }

        if member.epoch != before.epoch, before.epoch >= 0 { member.previousEpoch = before.epoch }
        guard member.state == .unrevoked else { return member.revocationEnd = nil }
        if before.state != .unrevoked || member.epoch != before.epoch {
            member.revocationEnd = now + member.rebalanceTimeout
        }
    }

    private func moveOn(_ member: inout Member, from current: Int32, owned: [PartitionID]?) {
        let wanted = target[member.id] ?? []
        let kept = member.assigned.filter { wanted.contains($0.key) }
        let toRevoke = Set(member.assigned.keys).subtracting(wanted)
        let missing = wanted.subtracting(kept.keys)
        let id = member.id
        let available = missing.filter { !isOwned($0, besides: id) }

        let stillOwns = owned?.contains(where: toRevoke.contains) ?? true
        if !toRevoke.isEmpty, stillOwns {
            member.state = .unrevoked
            member.epoch = current
            member.assigned = kept
            member.pendingRevocation = toRevoke
            return
        }

        member.epoch = targetEpoch
        member.assigned = kept
        for partition in available { member.assigned[partition] = targetEpoch }
        member.pendingRevocation = []
        member.state = available.count < missing.count ? .unreleased : .stable
    }

    // MARK: - Commits

    /// Returns whether this member may commit an offset of a partition.
    func checkCommit(of name: MemberName, partition: PartitionID, isTransactional: Bool) -> ErrorCode {
        if name.generation < 0, members.isEmpty { return .none }
        if isTransactional, name == .nobody { return .none }
        guard let member = member(name.id) else { return .unknownMemberID }
        if name.generation == member.epoch { return .none }

        // The protocol of transactions has no code for a stale epoch.
        let stale = isTransactional ? ErrorCode.illegalGeneration : .staleMemberEpoch
        guard rules.memberEpochCheck == .sinceAssignment, name.generation < member.epoch,
            let since = member.assigned[partition], name.generation >= since
        else { return stale }
        return .none
    }

    func checkFetch(by name: MemberName) -> ErrorCode {
        guard let member = member(name.id) else { return .unknownMemberID }
        return member.epoch == name.generation ? .none : .staleMemberEpoch
    }
}
