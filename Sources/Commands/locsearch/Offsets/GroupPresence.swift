import Kafka

/// The brokers' answer to whether a group has members.
enum GroupPresence: Sendable, Hashable {
    case described(GroupDescription)
    /// The brokers do not say, for this reason.
    case untold(String)

    /// - Parameter hasCommits: whether the group has committed anything on the topic.
    init(_ description: GroupDescription, hasCommits: Bool) {
        // Offsets without a group is what Kafka 4 answers about a group whose partitions the brokers share.
        self =
            description.isUnknown && hasCommits
            ? .untold("the brokers describe no group of the protocol consumer (kafka.groupProtocol)")
            : .described(description)
    }

    var description: GroupDescription? { if case .described(let description) = self { description } else { nil } }

    /// `nil` where the brokers do not tell.
    var memberCount: Int? { description?.members.count }

    var words: String {
        switch self {
        case .untold(let reason): return "whether it has members is not known: \(reason)"
        case .described(let group) where group.isUnknown: return "no member, and nothing committed"
        case .described(let group):
            let members = group.members.isEmpty ? "no member" : Self.text(of: group.members.count)
            return "\(group.state), \(members)"
        }
    }

    /// Returns the member that reads a partition, with where it connects from.
    func member(of id: TopicPartition) -> String? {
        description?.members.first { $0.partitions.contains(id) }.map { Self.text(of: $0) }
    }

    /// Returns why the group's offsets must not be moved from outside, and what to do about it; `nil` where they may.
    /// - Parameter group: the group's name.
    /// - Parameter isForced: whether the change is wanted although it cannot be checked.
    func refusal(of group: String, isForced: Bool) -> String? {
        switch self {
        case .untold where isForced: return nil
        case .untold(let reason):
            return """
                whether the group \(group) has members cannot be checked: \(reason); make sure that none of its workers \
                runs, then give --force
                """
        case .described(let description) where description.isEmpty || description.isUnknown: return nil
        case .described(let description):
            return """
                the group \(group) is \(description.state) and has \(Self.list(description.members)): stop its workers, wait \
                until `locsearch offsets show` says that it is Empty (a worker that was killed stays in it for its session \
                time-out), then try again
                """
        }
    }

    private static func list(_ members: [GroupDescription.Member]) -> String {
        if members.isEmpty { return "members" }
        let named = members.prefix(3).map { text(of: $0) }
        let more = members.count - named.count
        return "\(text(of: members.count)) (" + named.joined(separator: ", ") + (more > 0 ? " and \(more) more)" : ")")
    }

    private static func text(of count: Int) -> String { count == 1 ? "1 member" : "\(count) members" }

    /// Names a member for a person, with where it connects from.
    static func text(of member: GroupDescription.Member) -> String {
        // Java's notation of an address begins with a slash.
        let host = member.host.drop { $0 == "/" }
        return host.isEmpty ? member.clientID : "\(member.clientID) at \(host)"
    }
}
