internal import Basics

/// How one member of a consumer group fetches records.
public struct ConsumerConfiguration: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `kafka.bootstrapServers`: brokers to ask first, `host:port`, separated by commas.
    public var bootstrapServers: String
    /// `kafka.groupId`: the group whose members share the partitions.
    public var groupID = "location-search-worker"
    /// `kafka.groupInstanceId`: makes the member static, so that a quick restart causes no rebalance. `nil`: dynamic.
    public var groupInstanceID: String?
    /// `kafka.assignor`: `range`, `roundrobin` or `cooperative-sticky`. `nil`: by the version table.
    public var assignor: String?
    /// `kafka.groupProtocol`: who shares the partitions among the members.
    public var groupProtocol = GroupProtocol.classic
    /// `kafka.startFrom`: where reading begins in partitions for which the group has committed no offset.
    public var startFrom = StartPosition.earliest
    /// `kafka.statisticsInterval`: how often the client reports on itself; see `KafkaConsumer.statistics`. Whole milliseconds.
    /// `nil`: never.
    public var statisticsInterval: Duration?
    /// `kafka.security.*`: how to connect and log in.
    public var security = KafkaSecurity()
    /// `kafka.properties`: librdkafka's own, passed through; they win over every default.
    public var properties: [String: String] = [:]

    /// The two protocols of Kafka's consumer groups. All members of a group must use the same one, except while it moves from
    /// one to the other.
    public enum GroupProtocol: String, Sendable, CaseIterable {
        /// One of the members shares the partitions out.
        case classic
        /// The broker does (KIP-848): Apache Kafka 4.0 or newer, librdkafka 2.12 or newer.
        case consumer
    }

    /// - Parameter bootstrapServers: `host:port`, separated by commas. At least one.
    public init(bootstrapServers: String) { self.bootstrapServers = bootstrapServers }

    /// Shows no password, and so no value of a property.
    public var description: String {
        "\(bootstrapServers), group \(groupID), \(security), properties \(properties.keys.sorted())"
    }
    public var customMirror: Mirror { Mirror(self, children: ["": description]) }

    /// The values that must be cut out of log lines and error texts.
    var secrets: [String] { security.secrets + SecretProperties.secrets(in: properties) }

    /// The offset at which reading goes on when the broker does not have the wanted one any more: `auto.offset.reset`. Past the end of a
    /// log, `KafkaConsumer.decide` comes before that, unless the user sets it.
    package static var offsetReset: String { isPutBack(.resetToEnd) ? "latest" : "earliest" }

    /// librdkafka's spelling of the above.
    func librdkafka(_ version: LibraryVersion) throws(KafkaError) -> [String: String] {
        var all = version.defaults(for: .consumer)
        all["auto.offset.reset"] = Self.offsetReset
        // Fetches are for small requests, not for bulk: less buffer behind each prefetched record.
        all["fetch.wait.max.ms"] = "100"
        // Members learn of a rebalance by their heartbeats, and it ends when the last one knows. Until then nobody works on
        // the partitions that move, nor uses their part of the fleet's rate limit: librdkafka's 3 s would be idle time at
        // every change.
        all["heartbeat.interval.ms"] = "1000"
        // A topic that was deleted goes from the assignment once its members have seen that. Until then its partitions are in each commit.
        all["topic.metadata.refresh.interval.ms"] = "30000"
        all["socket.nagle.disable"] = "true"
        try checkGroupProtocol(version)
        if usesNewProtocol {
            all["group.protocol"] = "consumer"
            for name in Self.decidedByBroker { all[name] = nil }
        }
        if let statisticsInterval { all["statistics.interval.ms"] = "\(statisticsInterval.wholeMilliseconds)" }
        if let assignor { all["partition.assignment.strategy"] = assignor }
        if let groupInstanceID { all["group.instance.id"] = groupInstanceID }
        all.merge(security.properties) { _, ours in ours }
        let fixed = [
            "bootstrap.servers": bootstrapServers, "group.id": groupID, "enable.auto.commit": "false",
            "enable.auto.offset.store": "false",
            // A request whose transaction was aborted was never made.
            "isolation.level": "read_committed",
        ]
        return try ClientSettings.merge(all, fixed: fixed, user: properties)
    }
}

// MARK: - The group's protocol

extension ConsumerConfiguration {
    /// The properties that the broker decides with the protocol `consumer`. librdkafka refuses a client that sets one of
    /// them.
    private static let decidedByBroker = [
        "heartbeat.interval.ms", "partition.assignment.strategy", "session.timeout.ms", "group.protocol.type",
    ]

    private var usesNewProtocol: Bool { groupProtocol == .consumer || properties["group.protocol"] == "consumer" }

    /// - Throws: `configuration` for what does not go together with the protocol.
    private func checkGroupProtocol(_ version: LibraryVersion) throws(KafkaError) {
        guard usesNewProtocol else { return }
        let setting = groupProtocol == .consumer ? "kafka.groupProtocol" : "group.protocol in kafka.properties"

        guard version >= .firstWithNewProtocol else {
            throw KafkaError(
                .configuration,
                "\(setting) is consumer, which needs librdkafka \(LibraryVersion.firstWithNewProtocol) or newer, and this is"
                    + " \(version): use a newer library, or leave the setting out")
        }
        guard assignor == nil else {
            throw KafkaError(
                .configuration,
                "kafka.assignor is set, although \(setting) is consumer: the broker shares the partitions then;"
                    + " leave it out")
        }
        if let name = Self.decidedByBroker.first(where: { properties[$0] != nil }) {
            throw KafkaError(
                .configuration,
                "\(name) in kafka.properties is set, although \(setting) is consumer: the broker decides it then;"
                    + " leave it out")
        }
    }
}
