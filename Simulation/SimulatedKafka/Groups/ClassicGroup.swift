/// A group of the classic protocol: one of the members computes the assignment.
///
/// The rules are those of Apache Kafka's group coordinator: the states, the requests accepted in each, and the answers. An answer
/// that waits for other members is given through the closure that came with the request.
final class ClassicGroup {
    enum State: Hashable {
        case empty
        /// Members are joining the next generation.
        case preparingRebalance
        /// All have joined; the leader's assignment is awaited.
        case completingRebalance
        case stable
    }

    struct Member {
        let id: String
        var instanceID: String?
        var sessionTimeout: Int64
        var rebalanceTimeout: Int64
        var protocols: [JoinGroupRequest.Proposal]
        var assignment: [UInt8] = []
        /// The end of the session, at which the member is removed; `nil` while it waits for an answer.
        var sessionEnd: Int64?
        var joinReply: ((JoinGroupResponse) -> Void)?
        var syncReply: ((SyncGroupResponse) -> Void)?
        var hasSynced = false
        /// True until the first generation of the member has begun.
        var isNew = true
    }

    /// The persisted state, which a new coordinator reads.
    private struct Record {
        var generation: Int32 = 0
        var protocolName: String?
        var leader: String?
        var members: [Member] = []
    }

    let name: String
    private let rules: ClusterRules
    private let makeMemberID: () -> String

    private(set) var state = State.empty
    private(set) var generation: Int32 = 0
    private(set) var members: [Member] = []
    private var protocolType: String?
    private var protocolName: String?
    private(set) var leader: String?
    /// Members that were given an id and have not joined with it yet, each with the time at which they are forgotten.
    private var pendingMembers: [String: Int64] = [:]
    /// The time at which the rebalance goes on without the members that have not joined.
    private var joinEnd: Int64?
    /// The remaining part of the longest wait for the first members; `nil` unless the group was empty.
    private var initialWaitLeft: Int64?
    private var hasNewMember = false
    /// The time at which members that have joined but not requested their assignment are removed.
    private var syncEnd: Int64?
    private var record = Record()

    init(name: String, rules: ClusterRules, makeMemberID: @escaping () -> String) {
        self.name = name
        self.rules = rules
        self.makeMemberID = makeMemberID
    }

    var isEmpty: Bool { members.isEmpty && pendingMembers.isEmpty }

    // MARK: - Time

    var nextDeadline: Int64? {
        var next = joinEnd
        next.lower(to: syncEnd)
        for index in members.indices { next.lower(to: members[index].sessionEnd) }
        for end in pendingMembers.values { next.lower(to: end) }
        return next
    }

    func fire(at now: Int64) {
        for id in pendingMembers.filter({ $0.value <= now }).keys.sorted() {
            pendingMembers[id] = nil
            completeJoinIfAllAreThere(at: now)
        }
        while let member = members.first(where: { ($0.sessionEnd ?? .max) <= now }) {
            // A member that waits for the coordinator's answer sends no heartbeats.
            if member.joinReply != nil && !member.isNew || member.syncReply != nil {
                update(member.id) { $0.sessionEnd = nil }
            } else {
                remove(member.id, at: now)
            }
        }
        if let end = joinEnd, end <= now { endJoinWait(at: now) }
        if let end = syncEnd, end <= now { endSyncWait(at: now) }
    }

    private func endJoinWait(at now: Int64) {
        if let left = initialWaitLeft, left > 0, hasNewMember {
            hasNewMember = false
            let wait = min(rules.initialRebalanceDelay, left)
            initialWaitLeft = left - wait
            joinEnd = now + wait
            return
        }
        completeJoin(at: now)
    }

    private func endSyncWait(at now: Int64) {
        syncEnd = nil
        let late = members.filter { !$0.hasSynced }.map(\.id)
        guard !late.isEmpty, state == .completingRebalance || state == .stable else { return }
        for id in late { drop(id) }
        prepareRebalance(at: now)
    }

    // MARK: - JoinGroup

    func join(_ request: JoinGroupRequest, at now: Int64, reply: @escaping (JoinGroupResponse) -> Void) {
        let refuse = { (error: ErrorCode) in reply(JoinGroupResponse(error: error, memberID: request.memberID)) }
        guard rules.sessionTimeouts.contains(request.sessionTimeout) else { return refuse(.invalidSessionTimeout) }
        guard !request.protocols.isEmpty, supports(request) else { return refuse(.inconsistentGroupProtocol) }

        if request.memberID.isEmpty { return joinAsNewcomer(request, at: now, reply: reply) }
        if pendingMembers[request.memberID] != nil {
            return add(request, id: request.memberID, at: now, reply: reply)
        }
        if let error = validate(MemberName(id: request.memberID, instanceID: request.instanceID)) {
            return refuse(error)
        }
        joinAgain(request, at: now, reply: reply)
    }

    private func joinAsNewcomer(
        _ request: JoinGroupRequest, at now: Int64, reply: @escaping (JoinGroupResponse) -> Void
    ) {
        if let instance = request.instanceID {
            guard let former = members.first(where: { $0.instanceID == instance }) else {
                return add(request, id: makeMemberID(), at: now, reply: reply)
            }
            return replace(former, by: request, at: now, reply: reply)
        }

        guard members.count < rules.maxGroupSize else {
            return reply(JoinGroupResponse(error: .groupMaxSizeReached))
        }
        let id = makeMemberID()
        guard request.requiresKnownMemberID else { return add(request, id: id, at: now, reply: reply) }
        pendingMembers[id] = now + request.sessionTimeout
        reply(JoinGroupResponse(error: .memberIDRequired, memberID: id))
    }

    private func joinAgain(
        _ request: JoinGroupRequest, at now: Int64, reply: @escaping (JoinGroupResponse) -> Void
    ) {
        let id = request.memberID
        let isUnchanged = member(id)?.protocols == request.protocols
        switch state {
        case .empty: reply(JoinGroupResponse(error: .unknownMemberID, memberID: id))
        case .completingRebalance where isUnchanged:
            // The answer to the join was lost.
            reply(joinAnswer(to: id))
            startSession(of: id, at: now)
        case .stable where isUnchanged && leader != id:
            reply(joinAnswer(to: id, toldMembers: false))
            startSession(of: id, at: now)
        case .preparingRebalance, .completingRebalance, .stable:
            update(id) { member in
                // An earlier join that still waits is never answered.
                member.protocols = request.protocols
                member.sessionTimeout = request.sessionTimeout
                member.rebalanceTimeout = request.rebalanceTimeout
                member.joinReply = reply
                member.sessionEnd = nil
            }
            prepareRebalance(at: now)
        }
    }

    private func add(
        _ request: JoinGroupRequest, id: String, at now: Int64, reply: @escaping (JoinGroupResponse) -> Void
    ) {
        pendingMembers[id] = nil
        protocolType = request.protocolType
        var member = Member(
            id: id, instanceID: request.instanceID, sessionTimeout: request.sessionTimeout,
            rebalanceTimeout: request.rebalanceTimeout, protocols: request.protocols)
        member.joinReply = reply
        member.sessionEnd = now + rules.newMemberTimeout
        members.append(member)
        leader = leader ?? id
        if state == .preparingRebalance { hasNewMember = true }
        prepareRebalance(at: now)
    }

    /// Replaces a static member that has started again.
    private func replace(
        _ former: Member, by request: JoinGroupRequest, at now: Int64, reply: @escaping (JoinGroupResponse) -> Void
    ) {
        let id = makeMemberID()
        former.joinReply?(JoinGroupResponse(error: .fencedInstanceID, memberID: former.id))
        former.syncReply?(SyncGroupResponse(error: .fencedInstanceID))

        let formerLeader = leader
        var member = Member(
            id: id, instanceID: former.instanceID, sessionTimeout: request.sessionTimeout,
            rebalanceTimeout: request.rebalanceTimeout, protocols: request.protocols,
            assignment: former.assignment)
        member.hasSynced = former.hasSynced
        member.isNew = false
        members = members.map { $0.id == former.id ? member : $0 }
        if leader == former.id { leader = id }

        if state == .stable, chosenProtocol() == protocolName {
            // The group stays as it was. A leader that receives its former id as the leader's computes no new assignment.
            write()
            var answer = joinAnswer(to: id, toldMembers: false)
            answer.leader = formerLeader ?? ""
            reply(answer)
            startSession(of: id, at: now)
        } else {
            update(id) { $0.joinReply = reply }
            prepareRebalance(at: now)
        }
    }

    private func supports(_ request: JoinGroupRequest) -> Bool {
        let others = members.filter { $0.id != request.memberID }
        guard !others.isEmpty else { return true }
        guard request.protocolType == protocolType else { return false }
        return request.protocols.contains { proposal in
            others.allSatisfy { $0.protocols.contains { $0.name == proposal.name } }
        }
    }

    /// Returns the protocol with the most votes, among those that all members support.
    private func chosenProtocol() -> String? {
        let common = (members.first?.protocols ?? []).map(\.name).filter { name in
            members.allSatisfy { $0.protocols.contains { $0.name == name } }
        }
        let votes = members.compactMap { $0.protocols.first { common.contains($0.name) }?.name }
        return common.max { a, b in
            let (first, second) = (votes.count { $0 == a }, votes.count { $0 == b })
            return first < second
        }
    }

    private func joinAnswer(to id: String, toldMembers: Bool = true) -> JoinGroupResponse {
        var answer = JoinGroupResponse(
            error: .none, generation: generation, protocolName: protocolName ?? "", leader: leader ?? "",
            memberID: id)
        guard toldMembers, id == leader else { return answer }
        answer.members = members.map { member in
            let metadata = member.protocols.first { $0.name == protocolName }?.metadata ?? []
            return JoinGroupResponse.Member(id: member.id, instanceID: member.instanceID, metadata: metadata)
        }
        return answer
    }

    // MARK: - A rebalance

    private func prepareRebalance(at now: Int64) {
        switch state {
        case .preparingRebalance: return completeJoinIfAllAreThere(at: now)
        case .completingRebalance:
            for member in members where member.syncReply != nil {
                member.syncReply?(SyncGroupResponse(error: .rebalanceInProgress))
                update(member.id) { $0.syncReply = nil }
                startSession(of: member.id, at: now)
            }
        case .empty, .stable: break
        }

        let wasEmpty = state == .empty
        state = .preparingRebalance
        syncEnd = nil
        hasNewMember = false
        let longest = members.map(\.rebalanceTimeout).max() ?? 0
        guard wasEmpty, rules.initialRebalanceDelay > 0 else {
            initialWaitLeft = nil
            joinEnd = now + longest
            return completeJoinIfAllAreThere(at: now)
        }
        joinEnd = now + rules.initialRebalanceDelay
        initialWaitLeft = max(longest - rules.initialRebalanceDelay, 0)
    }

    private func completeJoinIfAllAreThere(at now: Int64) {
        guard state == .preparingRebalance, initialWaitLeft == nil, pendingMembers.isEmpty,
            members.allSatisfy({ $0.joinReply != nil })
        else { return }
        completeJoin(at: now)
    }

    private func completeJoin(at now: Int64) {
        // Static members stay until their session ends, whether or not they joined.
        for member in members where member.joinReply == nil && member.instanceID == nil { drop(member.id) }
        let joined = members.filter { $0.joinReply != nil }
        if let leader, !joined.contains(where: { $0.id == leader }) { self.leader = joined.first?.id ?? leader }
        if joined.isEmpty, !members.isEmpty {
            joinEnd = now + (members.map(\.rebalanceTimeout).max() ?? 0)
            return
        }

        joinEnd = nil
        initialWaitLeft = nil
        generation += 1
        guard !members.isEmpty else {
            state = .empty
            protocolName = nil
            leader = nil
            return write()
        }

        protocolName = chosenProtocol()
        state = .completingRebalance
        syncEnd = now + (members.map(\.rebalanceTimeout).max() ?? 0)
        let replies = joined.map { ($0.id, $0.joinReply) }
        for member in members {
            update(member.id) {
                $0.joinReply = nil
                $0.hasSynced = false
                $0.isNew = false
            }
            if member.joinReply != nil { startSession(of: member.id, at: now) }
        }
        for (id, reply) in replies { reply?(joinAnswer(to: id)) }
    }

    // MARK: - SyncGroup

    func sync(_ request: SyncGroupRequest, at now: Int64, reply: @escaping (SyncGroupResponse) -> Void) {
        if let error = validate(request.member) { return reply(SyncGroupResponse(error: error)) }
        guard request.member.generation == generation else {
            return reply(SyncGroupResponse(error: .illegalGeneration))
        }
        if let name = request.protocolName, name != protocolName {
            return reply(SyncGroupResponse(error: .inconsistentGroupProtocol))
        }

        let id = request.member.id
        switch state {
        case .empty: reply(SyncGroupResponse(error: .unknownMemberID))
        case .preparingRebalance: reply(SyncGroupResponse(error: .rebalanceInProgress))
        case .completingRebalance:
            update(id) {
                $0.syncReply = reply
                $0.hasSynced = true
                $0.sessionEnd = nil
            }
            if id == leader { spread(request.assignments, at: now) }
        case .stable:
            update(id) { $0.hasSynced = true }
            reply(SyncGroupResponse(error: .none, assignment: member(id)?.assignment ?? []))
            startSession(of: id, at: now)
            if members.allSatisfy(\.hasSynced) { syncEnd = nil }
        }
    }

    private func spread(_ assignments: [String: [UInt8]], at now: Int64) {
        state = .stable
        for index in members.indices { members[index].assignment = assignments[members[index].id] ?? [] }
        write()
        if members.allSatisfy(\.hasSynced) { syncEnd = nil }

        for member in members where member.syncReply != nil {
            update(member.id) { $0.syncReply = nil }
            startSession(of: member.id, at: now)
            member.syncReply?(SyncGroupResponse(error: .none, assignment: member.assignment))
        }
    }

    // MARK: - Heartbeat and LeaveGroup

    func heartbeat(_ request: HeartbeatRequest, at now: Int64) -> ErrorCode {
        if let error = validate(request.member) { return error }
        guard request.member.generation == generation else { return .illegalGeneration }

        switch state {
        case .empty: return .unknownMemberID
        case .preparingRebalance:
            startSession(of: request.member.id, at: now)
            return .rebalanceInProgress
        case .completingRebalance, .stable:
            startSession(of: request.member.id, at: now)
            return .none
        }
    }

    func leave(_ request: LeaveGroupRequest, at now: Int64) -> ErrorCode {
        if let instance = request.instanceID {
            guard let member = members.first(where: { $0.instanceID == instance }) else { return .unknownMemberID }
            guard request.memberID.isEmpty || request.memberID == member.id else { return .fencedInstanceID }
            remove(member.id, at: now)
            return .none
        }
        if pendingMembers.removeValue(forKey: request.memberID) != nil {
            completeJoinIfAllAreThere(at: now)
            return .none
        }
        guard member(request.memberID) != nil else { return .unknownMemberID }
        remove(request.memberID, at: now)
        return .none
    }

    // MARK: - Commits

    /// Returns whether this member may commit offsets.
    ///
    /// Commits are accepted while a rebalance is being prepared. Between the answer to JoinGroup and the
    /// assignment, only those of a transaction are.
    func checkCommit(of member: MemberName, isTransactional: Bool, at now: Int64) -> ErrorCode {
        if member.generation < 0, state == .empty { return .none }
        if member.generation >= 0 || !member.id.isEmpty || member.instanceID != nil {
            if let error = validate(member) { return error }
            if member.generation != generation { return .illegalGeneration }
        } else if !isTransactional, state != .empty {
            return .unknownMemberID
        }
        if !isTransactional, state == .completingRebalance { return .rebalanceInProgress }

        if !isTransactional, !member.id.isEmpty { startSession(of: member.id, at: now) }
        return .none
    }

    // MARK: - Change of the coordinator

    /// Answers every waiting request with NOT_COORDINATOR, and restores the persisted state.
    func reload(at now: Int64) {
        for member in members {
            member.joinReply?(JoinGroupResponse(error: .notCoordinator, memberID: member.id))
            member.syncReply?(SyncGroupResponse(error: .notCoordinator))
        }
        generation = record.generation
        protocolName = record.protocolName
        leader = record.leader
        members = record.members
        pendingMembers = [:]
        (joinEnd, syncEnd, initialWaitLeft) = (nil, nil, nil)
        state = members.isEmpty ? .empty : .stable
        for member in members { startSession(of: member.id, at: now) }
    }

    private func write() {
        record = Record(generation: generation, protocolName: protocolName, leader: leader, members: members)
        for index in record.members.indices {
            record.members[index].joinReply = nil
            record.members[index].syncReply = nil
            record.members[index].hasSynced = true
        }
    }

    // MARK: - Members

    func member(_ id: String) -> Member? { members.first { $0.id == id } }

    private func update(_ id: String, _ change: (inout Member) -> Void) {
        guard let index = members.firstIndex(where: { $0.id == id }) else { return }
        change(&members[index])
    }

    private func startSession(of id: String, at now: Int64) {
        update(id) { member in
            guard member.joinReply == nil, member.syncReply == nil else { return }
            member.sessionEnd = now + member.sessionTimeout
        }
    }

    private func validate(_ name: MemberName) -> ErrorCode? {
        if let instance = name.instanceID {
            guard let member = members.first(where: { $0.instanceID == instance }) else { return .unknownMemberID }
            return member.id == name.id ? nil : .fencedInstanceID
        }
        return member(name.id) == nil ? .unknownMemberID : nil
    }

    private func drop(_ id: String) {
        let gone = member(id)
        members.removeAll { $0.id == id }
        if leader == id { leader = members.first { $0.joinReply != nil }?.id ?? members.first?.id }
        gone?.joinReply?(JoinGroupResponse(error: .unknownMemberID, memberID: id))
        gone?.syncReply?(SyncGroupResponse(error: .unknownMemberID))
    }

    private func remove(_ id: String, at now: Int64) {
        drop(id)
        switch state {
        case .empty: break
        case .preparingRebalance: completeJoinIfAllAreThere(at: now)
        case .completingRebalance, .stable: prepareRebalance(at: now)
        }
    }
}
