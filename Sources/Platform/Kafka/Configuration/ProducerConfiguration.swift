/// How records are sent: idempotently, acknowledged by all in-sync replicas.
public struct ProducerConfiguration: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `kafka.bootstrapServers`: the brokers to contact first, as `host:port`, separated by commas.
    public var bootstrapServers: String
    /// How long a record waits at high load for others to share its batch. At low load it is sent at once. Whole milliseconds, at least 0.
    public var linger: Duration = .milliseconds(5)
    /// How much longer a record waits while the loop is busy. Larger batches then leave more processor time for queued
    /// requests. Not used with `transactionalID`.
    public var busyLinger: Duration = .zero
    /// True if each record is sent in its own batch, so that a rejected batch affects only one record.
    public var sendsRecordsSingly = false
    /// Identifies this instance for transactions, so that its predecessor is fenced; `nil`: no transactions.
    public var transactionalID: String?
    /// The interval of the client's statistics; see `KafkaProducer.statistics`. Whole milliseconds. `nil`: never.
    public var statisticsInterval: Duration?
    /// `kafka.security.*`: how to connect and log in.
    public var security = KafkaSecurity()
    /// `kafka.properties`: librdkafka's own properties, passed through; they override every default.
    public var properties: [String: String] = [:]

    /// - Parameter bootstrapServers: `host:port`, separated by commas. At least one.
    public init(bootstrapServers: String) { self.bootstrapServers = bootstrapServers }

    /// Contains no password, and therefore no value of a property.
    public var description: String {
        "\(bootstrapServers), linger \(linger), \(security), properties \(properties.keys.sorted())"
    }
    public var customMirror: Mirror { Mirror(self, children: ["": description]) }

    /// The values that must be removed from log lines and error texts.
    var secrets: [String] { security.secrets + SecretProperties.secrets(in: properties) }

    /// True if this module gathers records before librdkafka gets them, because librdkafka's own linger ignores the
    /// load. Not for transactions, which can only commit records that librdkafka already has.
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
        // Java's default, so that outcomes have the same partition as records of other producers with the same key.
        all["partitioner"] = "murmur2_random"
        all["queue.buffering.max.messages"] = "20000"
        all["queue.buffering.max.kbytes"] = "65536"
        // The topic limits the size of records: a dead letter must be able to hold any record of the requests topic.
        // Batches of several records stay within batch.size, 1 MB.
        all["message.max.bytes"] = "16777216"
        all["socket.nagle.disable"] = "true"
        if let statisticsInterval { all["statistics.interval.ms"] = "\(statisticsInterval.wholeMilliseconds)" }
        all.merge(security.properties) { _, ours in ours }
        var fixed = ["bootstrap.servers": bootstrapServers, "enable.idempotence": "true", "acks": "all"]
        if let transactionalID { fixed["transactional.id"] = transactionalID }
        if sendsRecordsSingly { fixed["batch.num.messages"] = "1" }
        return try ClientSettings.merge(all, fixed: fixed, user: properties)
    }

    /// Validates each property with the library, without creating a client.
    /// - Throws: `configuration` that names the first rejected property.
    package func check() throws(KafkaError) { try ClientSettings.check(librdkafka(.running)) }
}

extension Duration {
    /// Rounded down to whole milliseconds, which librdkafka expects.
    var wholeMilliseconds: Int64 { Int64(milliseconds(roundedUp: false)) }
}
