/// An offset that a group commits.
package struct OffsetToCommit: Hashable, Sendable {
    package var offset: Int64
    package var metadata: String

    package init(_ offset: Int64, metadata: String = "") {
        self.offset = offset
        self.metadata = metadata
    }
}

/// The member in whose name an offset is committed.
package struct MemberName: Hashable, Sendable {
    package var id: String
    package var instanceID: String?
    /// The generation of a classic group, or the member's epoch in a KIP-848 group; -1: no member.
    package var generation: Int32

    package init(id: String = "", instanceID: String? = nil, generation: Int32 = -1) {
        self.id = id
        self.instanceID = instanceID
        self.generation = generation
    }

    /// A committer that is no member of any group.
    package static let nobody = MemberName()
}

/// OffsetCommit.
package struct OffsetCommitRequest: Hashable, Sendable {
    package var group: String
    package var member: MemberName
    package var offsets: [PartitionID: OffsetToCommit]
    /// The version of the request. From version 9 on it may name a member of a KIP-848 group.
    package var version: Int16 = 9

    package init(
        _ group: String, as member: MemberName = .nobody, _ offsets: [PartitionID: OffsetToCommit], version: Int16 = 9
    ) {
        self.group = group
        self.member = member
        self.offsets = offsets
        self.version = version
    }
}

package struct OffsetCommitResponse: Hashable, Sendable {
    package var results: [PartitionID: ErrorCode]

    /// The error of the first partition that has one: a group may accept the offset of one partition and reject that of another.
    package var error: ErrorCode { results.filter { $0.value != .none }.min { $0.key < $1.key }?.value ?? .none }
}

/// OffsetFetch.
package struct OffsetFetchRequest: Hashable, Sendable {
    package var group: String
    /// `nil`: all partitions that the group has committed.
    package var partitions: [PartitionID]?
    /// KIP-447: no answer for a partition whose offset an open transaction is about to commit.
    package var requireStable: Bool
    /// The member of a KIP-848 group; `nil`: not given.
    package var member: MemberName?

    package init(
        _ group: String, _ partitions: [PartitionID]?, requireStable: Bool = true, member: MemberName? = nil
    ) {
        self.group = group
        self.partitions = partitions
        self.requireStable = requireStable
        self.member = member
    }
}

package struct OffsetFetchResponse: Hashable, Sendable {
    package struct Result: Hashable, Sendable {
        package var error: ErrorCode
        /// -1 if nothing was committed.
        package var offset: Int64 = -1
        package var metadata = ""
    }
    package var error: ErrorCode
    package var results: [PartitionID: Result] = [:]
}

/// JoinGroup.
package struct JoinGroupRequest: Hashable, Sendable {
    package struct Proposal: Hashable, Sendable {
        package var name: String
        package var metadata: [UInt8]

        package init(_ name: String, _ metadata: [UInt8] = []) {
            self.name = name
            self.metadata = metadata
        }
    }

    package var group: String
    /// Empty for a member that joins for the first time.
    package var memberID = ""
    package var instanceID: String?
    package var protocolType = "consumer"
    /// The assignors that the member supports, in the order of preference.
    package var protocols: [Proposal]
    package var sessionTimeout: Int64 = 45 * ClusterRules.second
    package var rebalanceTimeout: Int64 = 300 * ClusterRules.second
    /// JoinGroup 4 and later: a new member first receives its id, and then joins with it.
    package var requiresKnownMemberID = true

    package init(_ group: String, protocols: [Proposal]) {
        self.group = group
        self.protocols = protocols
    }
}

package struct JoinGroupResponse: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package var id: String
        package var instanceID: String?
        package var metadata: [UInt8]
    }
    package var error: ErrorCode
    package var generation: Int32 = -1
    package var protocolName = ""
    package var leader = ""
    package var memberID = ""
    /// All members, in the answer to the leader only.
    package var members: [Member] = []
}

/// SyncGroup.
package struct SyncGroupRequest: Hashable, Sendable {
    package var group: String
    package var member: MemberName
    package var protocolName: String?
    /// The assignment of each member, in the leader's request only.
    package var assignments: [String: [UInt8]] = [:]

    package init(_ group: String, as member: MemberName, assignments: [String: [UInt8]] = [:]) {
        self.group = group
        self.member = member
        self.assignments = assignments
    }
}

package struct SyncGroupResponse: Hashable, Sendable {
    package var error: ErrorCode
    package var assignment: [UInt8] = []
}

/// Heartbeat.
package struct HeartbeatRequest: Hashable, Sendable {
    package var group: String
    package var member: MemberName

    package init(_ group: String, as member: MemberName) {
        self.group = group
        self.member = member
    }
}

/// LeaveGroup, of one member.
package struct LeaveGroupRequest: Hashable, Sendable {
    package var group: String
    package var memberID: String
    package var instanceID: String?

    package init(_ group: String, memberID: String, instanceID: String? = nil) {
        self.group = group
        self.memberID = memberID
        self.instanceID = instanceID
    }
}

/// ConsumerGroupHeartbeat (KIP-848).
package struct ConsumerGroupHeartbeatRequest: Hashable, Sendable {
    /// The values of the member epoch that request a change of membership.
    package static let (join, leave, leaveForAWhile): (Int32, Int32, Int32) = (0, -1, -2)

    package var group: String
    package var memberID: String
    package var memberEpoch: Int32
    package var instanceID: String?
    /// `nil`: unchanged since the last heartbeat; the same holds for the three properties below.
    package var rebalanceTimeout: Int64?
    package var topics: [String]?
    package var serverAssignor: String?
    package var owned: [PartitionID]?

    package init(_ group: String, memberID: String, memberEpoch: Int32) {
        self.group = group
        self.memberID = memberID
        self.memberEpoch = memberEpoch
    }
}

package struct ConsumerGroupHeartbeatResponse: Hashable, Sendable {
    package var error: ErrorCode
    package var memberID = ""
    package var memberEpoch: Int32 = 0
    package var heartbeatInterval: Int64 = 0
    /// The target assignment of the member; `nil`: unchanged.
    package var assignment: [PartitionID]?
}
