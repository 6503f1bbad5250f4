/// How records are sent: idempotently, confirmed by all in-sync replicas.
public struct ProducerConfiguration: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `kafka.bootstrapServers`: brokers to ask first, `host:port`, separated by commas.
    public var bootstrapServers: String
    /// `kafka.linger`: how long a record waits for others to share its batch while enough of them come; while few come it
    /// leaves at once. Whole milliseconds, at least 0.
    public var linger: Duration = .milliseconds(5)
    /// How much longer a record waits while the loop has no rest. Requests wait for their turn then, and larger batches
    /// leave them more of the processor. `transactionalID` switches it off.
    public var busyLinger: Duration = .zero
    /// True when each record travels in a batch of its own, so that a refused batch is a refused record.
    public var sendsRecordsSingly = false
    /// Names this instance for transactions, so that its predecessor is fenced off; `nil`: no transactions.
    public var transactionalID: String?
    /// `kafka.statisticsInterval`: how often the client reports on itself; see `KafkaProducer.statistics`. Whole milliseconds.
    /// `nil`: never.
    public var statisticsInterval: Duration?
    /// `kafka.security.*`: how to connect and log in.
    public var security = KafkaSecurity()
    /// `kafka.properties`: librdkafka's own, passed through; they win over every default.
    public var properties: [String: String] = [:]

    /// - Parameter bootstrapServers: `host:port`, separated by commas. At least one.
    public init(bootstrapServers: String) { self.bootstrapServers = bootstrapServers }

    /// Shows no password, and so no value of a property.
    public var description: String {
        "\(bootstrapServers), linger \(linger), \(security), properties \(properties.keys.sorted())"
    }
    public var customMirror: Mirror { Mirror(self, children: ["": description]) }

    /// The values that must be cut out of log lines and error texts.
    var secrets: [String] { security.secrets + SecretProperties.secrets(in: properties) }

    /// True when records wait on this side of librdkafka, whose own linger takes no notice of the load. Those of a
    /// transaction do not: it ends with what librdkafka has of it.
    var gathers: Bool { transactionalID == nil }

    /// Half of `transaction.timeout.ms`; `nil` without transactions.
    var longestFlush: Duration? {
        guard transactionalID != nil else { return nil }
        let timeout = properties["transaction.timeout.ms"].flatMap(Int32.init) ?? 60_000
        return .milliseconds(timeout / 2)  // bounded: 32 bits
    }

    func librdkafka(_ version: LibraryVersion) throws(KafkaError) -> [String: String] {
        var all = version.defaults(for: .producer)
        all["linger.ms"] = gathers ? "0" : "\(linger.wholeMilliseconds)"
        // Java's default, so that outcomes share partitions with records that other producers write under the same key.
        all["partitioner"] = "murmur2_random"
        all["queue.buffering.max.messages"] = "20000"
        all["queue.buffering.max.kbytes"] = "65536"
        // The topic decides which records are too large: a dead letter must be able to hold whatever the requests topic
        // does. Batches of several records stay within batch.size, 1 MB.
        all["message.max.bytes"] = "16777216"
        all["socket.nagle.disable"] = "true"
        if let statisticsInterval { all["statistics.interval.ms"] = "\(statisticsInterval.wholeMilliseconds)" }
        all.merge(security.properties) { _, ours in ours }
        var fixed = ["bootstrap.servers": bootstrapServers, "enable.idempotence": "true", "acks": "all"]
        if let transactionalID { fixed["transactional.id"] = transactionalID }
        if sendsRecordsSingly { fixed["batch.num.messages"] = "1" }
        return try ClientSettings.merge(all, fixed: fixed, user: properties)
    }
}

extension Duration {
    /// Rounded down; librdkafka takes whole milliseconds.
    var wholeMilliseconds: Int64 { Int64(milliseconds(roundedUp: false)) }
}
