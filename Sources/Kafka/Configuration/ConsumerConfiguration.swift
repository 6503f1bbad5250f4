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
    /// `kafka.startFrom`: where reading begins in partitions for which the group has committed no offset.
    public var startFrom = StartPosition.earliest
    /// `kafka.security.*`: how to connect and log in.
    public var security = KafkaSecurity()
    /// `kafka.properties`: librdkafka's own, passed through; they win over every default.
    public var properties: [String: String] = [:]

    /// - Parameter bootstrapServers: `host:port`, separated by commas. At least one.
    public init(bootstrapServers: String) { self.bootstrapServers = bootstrapServers }

    /// Shows no password, and so no value of a property.
    public var description: String {
        "\(bootstrapServers), group \(groupID), \(security), properties \(properties.keys.sorted())"
    }
    public var customMirror: Mirror { Mirror(self, children: ["": description]) }

    /// The values that must be cut out of log lines and error texts.
    var secrets: [String] { security.secrets + SecretProperties.secrets(in: properties) }

    /// librdkafka's spelling of the above.
    func librdkafka(_ version: LibraryVersion) throws(KafkaError) -> [String: String] {
        var all = version.defaults(for: .consumer)
        all["auto.offset.reset"] = "earliest"
        // This is per partition, because each has a queue of its own: memory stays flat however many requests wait.
        all["queued.max.messages.kbytes"] = "4096"
        // Fetches are for small requests, not for bulk: less buffer behind each prefetched record.
        all["fetch.wait.max.ms"] = "100"
        // Members hear of a rebalance by their heartbeats, and it ends when the last has heard. Until then nobody works on
        // the partitions that move, nor uses their part of the fleet's rate limit: librdkafka's 3 s would be idle time at
        // every change.
        all["heartbeat.interval.ms"] = "1000"
        all["socket.nagle.disable"] = "true"
        all["log.connection.close"] = "false"
        if properties["group.protocol"] == "consumer" {
            // With that protocol the broker decides both, and the library refuses clients that set them.
            all["heartbeat.interval.ms"] = nil
            all["partition.assignment.strategy"] = nil
        }
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
