internal import SimulatedKafka

/// The messages between a member of a classic group and the leader, as bytes.
struct MemberSubscription: Hashable {
    var topics: [String]
    var owned: [PartitionID] = []
    /// The generation in which `owned` was assigned. A newer claim wins over an older one.
    var generation: Int32 = -1

    var bytes: [UInt8] {
        Array(([topics.joined(separator: ","), "\(generation)"] + Self.lines(owned)).joined(separator: "\n").utf8)
    }

    init(topics: [String], owned: [PartitionID] = [], generation: Int32 = -1) {
        self.topics = topics
        self.owned = owned
        self.generation = generation
    }

    init(bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        topics = (lines.first ?? "").split(separator: ",").map(String.init)
        generation = lines.count > 1 ? Int32(lines[1]) ?? -1 : -1
        owned = Self.partitions(lines.dropFirst(2))
    }

    static func encode(_ assignment: [PartitionID]) -> [UInt8] { Array(lines(assignment).joined(separator: "\n").utf8) }

    static func decode(assignment bytes: [UInt8]) -> [PartitionID] {
        partitions(String(decoding: bytes, as: UTF8.self).split(separator: "\n")[...])
    }

    private static func lines(_ partitions: [PartitionID]) -> [String] {
        partitions.sorted().map { "\($0.topic) \($0.partition)" }
    }

    private static func partitions(_ lines: ArraySlice<Substring>) -> [PartitionID] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int32(words[1]) else { return nil }
            return PartitionID(String(words[0]), number)
        }
    }
}

/// Computes assignments, as the leader of a classic group does.
enum Assignors {
    typealias Members = [(id: String, subscription: MemberSubscription)]

    static func share(
        _ counts: [String: Int32], among members: Members, by assignor: SimulatedConsumerSettings.Assignor
    ) -> [String: [PartitionID]] {
        switch assignor {
        case .range: range(counts, members)
        case .cooperativeSticky: cooperativeSticky(counts, members)
        }
    }

    private static func range(_ counts: [String: Int32], _ members: Members) -> [String: [PartitionID]] {
        var shares: [String: [PartitionID]] = [:]
        for topic in counts.keys.sorted() {
            let readers = members.filter { $0.subscription.topics.contains(topic) }.map(\.id).sorted()
            guard !readers.isEmpty else { continue }
            let count = Int(counts[topic] ?? 0)
            var next = 0
            for (index, reader) in readers.enumerated() {
                let size = count / readers.count + (index < count % readers.count ? 1 : 0)
                shares[reader, default: []] += (next..<next + size).map { PartitionID(topic, Int32($0)) }
                next += size
            }
        }
        return shares
    }

    // MARK: - Cooperative-sticky

    /// A member's claim to own a partition.
    private struct Claim {
        let member: String
        let generation: Int32
    }

    /// Leaves each member its partitions, up to its share. A partition that moves is not assigned before its owner has revoked it.
    ///
    /// The algorithm is librdkafka's: `rdkafka_sticky_assignor.c` balances. `rd_kafka_cooperative_protocol_adjust_assignment` then
    /// removes partitions that another member claims, however old the claim. In that step the last claim in the order of the members
    /// counts, and partitions of missing topics stay with the members that claim them.
    private static func cooperativeSticky(_ counts: [String: Int32], _ members: Members) -> [String: [PartitionID]] {
        var claims: [PartitionID: [Claim]] = [:]
        for (id, subscription) in members {
            for partition in subscription.owned {
                claims[partition, default: []].append(Claim(member: id, generation: subscription.generation))
            }
        }
        let targets = balance(counts, members, owners: claims.compactMapValues(owner))

        var shares: [String: [PartitionID]] = [:]
        for (partition, member) in targets.sorted(by: { $0.key < $1.key }) {
            let claimant = claims[partition]?.last?.member
            if claimant == nil || claimant == member { shares[member, default: []].append(partition) }
        }
        for (partition, claims) in claims.sorted(by: { $0.key < $1.key }) where targets[partition] == nil {
            if let claim = claims.last { shares[claim.member, default: []].append(partition) }
        }
        return shares
    }

    /// Returns the member whose claim counts: that of the newest generation among the claims. Two claims of
    /// one generation void all claims.
    private static func owner(by claims: [Claim]) -> String? {
        let areTwoEqual = Set(claims.map(\.generation)).count < claims.count
        return areTwoEqual ? nil : claims.max { $0.generation < $1.generation }?.member
    }

    /// Returns the final owner of each partition.
    private static func balance(
        _ counts: [String: Int32], _ members: Members, owners: [PartitionID: String]
    ) -> [PartitionID: String] {
        var targets: [PartitionID: String] = [:]
        for topic in counts.keys.sorted() {
            let readers = members.filter { $0.subscription.topics.contains(topic) }.map(\.id).sorted()
            guard !readers.isEmpty else { continue }
            let count = Int(counts[topic] ?? 0)
            let limit = count / readers.count
            var extra = count % readers.count
            var sizes: [String: Int] = [:]
            var unshared: [PartitionID] = []

            for number in 0..<count {
                let partition = PartitionID(topic, Int32(number))
                guard let owner = owners[partition], readers.contains(owner),
                    sizes[owner, default: 0] < limit + (extra > 0 ? 1 : 0)
                else {
                    unshared.append(partition)
                    continue
                }
                if sizes[owner, default: 0] == limit { extra -= 1 }
                sizes[owner, default: 0] += 1
                targets[partition] = owner
            }

            for partition in unshared {
                let reader = readers.min { (sizes[$0, default: 0], $0) < (sizes[$1, default: 0], $1) }
                guard let reader else { continue }
                sizes[reader, default: 0] += 1
                targets[partition] = reader
            }
        }
        return targets
    }
}
