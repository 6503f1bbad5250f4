import Kafka

/// The brokers' answer about the members of a group.
enum GroupPresence: Sendable, Hashable {
    case described(GroupDescription)
    /// The brokers did not answer, for this reason.
    case untold(String)

    /// - Parameter hasCommits: true if the group has committed offsets on the topic.
    init(_ description: GroupDescription, hasCommits: Bool) {
        // Kafka 4 reports a group of the protocol `consumer` as unknown, although it has committed offsets.
        self =
            description.isUnknown && hasCommits
            ? .untold("the brokers cannot describe a group of the protocol consumer (kafka.groupProtocol)")
            : .described(description)
    }

    var description: GroupDescription? { if case .described(let description) = self { description } else { nil } }

    /// `nil` if the brokers did not answer.
    var memberCount: Int? { description?.members.count }

    var words: String {
        switch self {
        case .untold(let reason): return "members unknown: \(reason)"
        case .described(let group) where group.isUnknown: return "no member, and nothing committed"
        case .described(let group):
            let members = group.members.isEmpty ? "no member" : group.members.count.counted("member")
            return "\(group.state), \(members)"
        }
    }

    /// Returns the member that owns a partition, with its host.
    func member(of id: TopicPartition) -> String? {
        description?.members.first { $0.partitions.contains(id) }.map { Self.text(of: $0) }
    }

    /// Returns why the group's offsets must not be moved by a command, and what to do about it; `nil` if they may be
    /// moved.
    /// - Parameter group: the group's name.
    /// - Parameter isForced: true to allow the change even if members cannot be checked.
    func refusal(of group: String, isForced: Bool) -> String? {
        switch self {
        case .untold where isForced: return nil
        case .untold(let reason):
            return """
                cannot check whether the group \(group) has members: \(reason); make sure that none of its workers \
                runs, then give --force
                """
        case .described(let description) where description.isEmpty || description.isUnknown: return nil
        case .described(let description):
            return """
                the group \(group) is \(description.state) and has \(Self.list(description.members)): stop its \
                workers, wait until `locsearch offsets show` shows that it is Empty (a killed worker remains a member \
                for its session timeout), then try again
                """
        }
    }

    private static func list(_ members: [GroupDescription.Member]) -> String {
        if members.isEmpty { return "members" }
        let named = members.prefix(3).map { text(of: $0) }
        let more = members.count - named.count
        return "\(members.count.counted("member")) (" + named.joined(separator: ", ")
            + (more > 0 ? " and \(more) more)" : ")")
    }

    /// Formats a member with its host.
    static func text(of member: GroupDescription.Member) -> String {
        // Java writes an address with a leading slash.
        let host = member.host.drop { $0 == "/" }
        return host.isEmpty ? member.clientID : "\(member.clientID) at \(host)"
    }
}
