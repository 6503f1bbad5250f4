internal import Basics

/// How one member of a consumer group fetches records.
public struct ConsumerConfiguration: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `kafka.bootstrapServers`: the brokers to contact first, as `host:port`, separated by commas.
    public var bootstrapServers: String
    /// `kafka.groupId`: the group whose members share the partitions.
    public var groupID = "location-search-worker"
    /// `kafka.groupInstanceId`: makes the member static, so that a quick restart causes no rebalance. `nil`: dynamic.
    public var groupInstanceID: String?
    /// `kafka.groupProtocol`: whether a member or the broker assigns the partitions.
    public var groupProtocol = GroupProtocol.classic
    /// The interval of the client's statistics; see `KafkaConsumer.statistics`. Whole milliseconds. `nil`: never.
    public var statisticsInterval: Duration?
    /// `kafka.security.*`: how to connect and log in.
    public var security = KafkaSecurity()
    /// `kafka.properties`: librdkafka's own properties, passed through; they override every default.
    public var properties: [String: String] = [:]

    /// The two protocols of Kafka's consumer groups. All members of a group must use the same one, except while the
    /// group migrates.
    public enum GroupProtocol: String, Sendable, CaseIterable {
        /// One of the members assigns the partitions.
        case classic
        /// The broker assigns the partitions (KIP-848). Needs Apache Kafka 4.0 or newer, and librdkafka 2.12 or newer.
        case consumer
    }

    /// - Parameter bootstrapServers: `host:port`, separated by commas. At least one.
    public init(bootstrapServers: String) { self.bootstrapServers = bootstrapServers }

    /// Contains no password, and therefore no value of a property.
    public var description: String {
        "\(bootstrapServers), group \(groupID), \(security), properties \(properties.keys.sorted())"
    }
    public var customMirror: Mirror { Mirror(self, children: ["": description]) }

    /// The values that must be removed from log lines and error texts.
    var secrets: [String] { security.secrets + SecretProperties.secrets(in: properties) }

    /// Where reading continues if the broker no longer has the wanted offset: `auto.offset.reset`. Past the end of a
    /// log, `KafkaConsumer.decide` takes precedence, unless the user sets this property.
    package static var offsetReset: String { "earliest" }

    /// The configuration as librdkafka's properties.
    func librdkafka(_ version: LibraryVersion) throws(KafkaError) -> [String: String] {
        var all = version.defaults(for: .consumer)
        all["auto.offset.reset"] = Self.offsetReset
        // Requests are small, so short fetches suffice: less buffer per prefetched record.
        all["fetch.wait.max.ms"] = "100"
        // Members learn of a rebalance by their heartbeats, and it ends when the last member knows. Until then, moving
        // partitions and their share of the fleet's rate limit are unused. librdkafka's default of 3 s would be idle
        // time at every change.
        all["heartbeat.interval.ms"] = "1000"
        // A deleted topic leaves the assignment once its members have refreshed their metadata. Until then its
        // partitions are in each commit.
        all["topic.metadata.refresh.interval.ms"] = "30000"
        all["socket.nagle.disable"] = "true"
        try checkGroupProtocol(version)
        if usesNewProtocol {
            all["group.protocol"] = "consumer"
            for name in Self.decidedByBroker { all[name] = nil }
        }
        if let statisticsInterval { all["statistics.interval.ms"] = "\(statisticsInterval.wholeMilliseconds)" }
        if let groupInstanceID { all["group.instance.id"] = groupInstanceID }
        all.merge(security.properties) { _, ours in ours }
        let fixed = [
            "bootstrap.servers": bootstrapServers, "group.id": groupID, "enable.auto.commit": "false",
            "enable.auto.offset.store": "false", "enable.partition.eof": "true",
            // A request whose transaction was aborted does not exist.
            "isolation.level": "read_committed",
        ]
        return try ClientSettings.merge(all, fixed: fixed, user: properties)
    }

    /// Validates each property with the library, without creating a client.
    /// - Throws: `configuration` that names the first rejected property.
    package func check() throws(KafkaError) { try ClientSettings.check(librdkafka(.running)) }

    /// True if a commit during a rebalance costs the member its partitions: see `firstWithCooperativeCommits`.
    package func losesPartitionsByCommits(with version: LibraryVersion) -> Bool {
        let assignor = properties["partition.assignment.strategy"] ?? ""
        return version < .firstWithCooperativeCommits && assignor.contains("cooperative")
    }
}

// MARK: - The group's protocol

extension ConsumerConfiguration {
    /// The properties that the broker decides in the `consumer` protocol. librdkafka rejects a client that sets one of
    /// them.
    private static let decidedByBroker = [
        "heartbeat.interval.ms", "partition.assignment.strategy", "session.timeout.ms", "group.protocol.type",
    ]

    /// True for KIP-848: the brokers assign the partitions.
    var usesNewProtocol: Bool { groupProtocol == .consumer || properties["group.protocol"] == "consumer" }

    /// - Throws: `configuration` for settings that conflict with the protocol.
    private func checkGroupProtocol(_ version: LibraryVersion) throws(KafkaError) {
        guard usesNewProtocol else { return }
        let setting = groupProtocol == .consumer ? "kafka.groupProtocol" : "group.protocol in kafka.properties"

        guard version >= .firstWithNewProtocol else {
            throw KafkaError(
                .configuration,
                "\(setting) is consumer, which needs librdkafka \(LibraryVersion.firstWithNewProtocol) or newer, and this is"
                    + " \(version): use a newer library, or remove the setting")
        }
        if let name = Self.decidedByBroker.first(where: { properties[$0] != nil }) {
            throw KafkaError(
                .configuration,
                "\(name) in kafka.properties cannot be set when \(setting) is consumer, because the broker decides it:"
                    + " remove it")
        }
    }
}
