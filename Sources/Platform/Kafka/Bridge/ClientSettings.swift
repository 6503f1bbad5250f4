internal import Basics
internal import CRdkafka
internal import Logging

/// Creates librdkafka clients from properties.
enum ClientSettings {
    /// Properties that only this module may set, because correctness depends on them or its callbacks use them. A
    /// user's property of that name is rejected.
    static let reserved: Set<String> = [
        "bootstrap.servers", "metadata.broker.list", "group.id", "group.instance.id", "enable.auto.commit",
        "auto.commit.enable", "enable.auto.offset.store", "enable.partition.eof", "isolation.level",
        "enable.idempotence", "acks",
        "request.required.acks", "transactional.id", "delivery.report.only.error", "dr_msg_cb", "enabled_events",
        // Offset resets are known only from librdkafka's warnings.
        "log.queue", "log_level", "opaque", "test.mock.num.brokers",
    ]

    private static func isReserved(_ name: String) -> Bool { reserved.contains(name) || name.hasSuffix("_cb") }

    /// The name prefixes of properties for consumers only, or for producers only. Each client gets only its own.
    private static let consumerPrefixes = [
        "fetch.", "queued.", "session.", "heartbeat.", "max.poll.", "partition.assignment", "auto.offset", "isolation.",
        "check.crcs", "group.", "auto.commit", "coordinator.query",
    ]
    private static let producerPrefixes = [
        "queue.buffering", "linger.", "batch.", "compression", "message.timeout", "delivery.timeout", "transaction.",
        "partitioner", "retries", "message.send", "retry.backoff.max", "sticky.partitioning", "request.timeout",
    ]

    /// Merges defaults, the user's properties and the fixed ones; the later ones take precedence.
    /// - Throws: `configuration` for a property that only this module may set.
    static func merge(
        _ defaults: [String: String], fixed: [String: String], user: [String: String]
    ) throws(KafkaError) -> [String: String] {
        if let name = user.keys.filter(isReserved).min() {
            throw KafkaError(
                .configuration, "kafka.properties must not set \(name): the worker's guarantees depend on it")
        }
        let foreign = fixed["group.id"] == nil ? consumerPrefixes : producerPrefixes
        let own = user.filter { name, _ in !foreign.contains { name.hasPrefix($0) } }
        return defaults.merging(own) { _, user in user }.merging(fixed) { _, fixed in fixed }
    }

    /// Creates a client, which begins to connect to its brokers.
    /// - Parameters:
    ///   - events: The `RD_KAFKA_EVENT_...` that arrive as events.
    ///   - connections: Receives the states of the brokers. Both it and `log` must live as long as the client.
    /// - Throws: `configuration` that names the property. Values of secrets are not shown.
    static func makeClient(
        _ type: rd_kafka_type_t, properties: [String: String], events: Int32, log: ClientLog?,
        connections: BrokerConnections? = nil
    ) throws(KafkaError) -> OpaquePointer {
        let settings = try settings(properties)
        var reason = [CChar](repeating: 0, count: 512)
        rd_kafka_conf_set_events(settings, events)
        // Fetching a token for OAUTHBEARER is a blocking HTTP call. With a dedicated queue, a thread of librdkafka
        // makes it; otherwise the loop that serves the client's events would make it.
        let fetchesTokens = properties["sasl.oauthbearer.method"]?.lowercased() == "oidc"
        if fetchesTokens { rd_kafka_conf_enable_sasl_queue(settings, 1) }
        if let log {
            // The pointer stays valid as long as the client, because the owner of the client also holds `log`.
            rd_kafka_conf_set_opaque(settings, Unmanaged.passUnretained(log).toOpaque())
        }
        // Without a callback, the library writes to standard error.
        rd_kafka_conf_set_log_cb(settings) { client, level, facility, line in
            guard let opaque = client.flatMap({ rd_kafka_opaque($0) }), let line else { return }
            let log = Unmanaged<ClientLog>.fromOpaque(opaque).takeUnretainedValue()
            log.write(level: level, facility: facility.map { String(cString: $0) } ?? "", line: String(cString: line))
        }
        if let connections { watchBrokers(settings, connections) }
        guard let client = rd_kafka_new(type, settings, &reason, reason.count) else {
            rd_kafka_conf_destroy(settings)
            let cause = SecretProperties.hide(SecretProperties.secrets(in: properties), in: text(reason))
            throw KafkaError(.configuration, "Kafka client: \(KafkaSecurity.namingSettings(in: cause))")
        }
        if fetchesTokens, let error = rd_kafka_sasl_background_callbacks_enable(client) {
            let failure = KafkaError(consuming: error, doing: "log in with OAUTHBEARER")
            rd_kafka_destroy(client)
            throw failure
        }
        return client
    }

    /// Converts properties to librdkafka's form, which the caller frees or passes on.
    /// - Throws: `configuration` that names the first rejected property.
    static func settings(_ properties: [String: String]) throws(KafkaError) -> OpaquePointer {
        guard let settings = rd_kafka_conf_new() else { throw KafkaError(.other, "out of memory") }
        var reason = [CChar](repeating: 0, count: 512)
        for (name, value) in properties.sorted(by: { $0.key < $1.key }) {
            guard rd_kafka_conf_set(settings, name, value, &reason, reason.count) != RD_KAFKA_CONF_OK else { continue }
            rd_kafka_conf_destroy(settings)
            throw KafkaError(.configuration, refusal(of: name, value: value, reason: text(reason)))
        }
        return settings
    }

    static func check(_ properties: [String: String]) throws(KafkaError) {
        rd_kafka_conf_destroy(try settings(properties))
    }

    /// Registers `connections` for every state change of every broker, including the first one.
    private static func watchBrokers(_ settings: OpaquePointer, _ connections: BrokerConnections) {
        let opaque = Unmanaged.passUnretained(connections).toOpaque()
        rd_kafka_conf_interceptor_add_on_new(
            settings, "connections",
            { client, _, opaque, _, _ in
                rd_kafka_interceptor_add_on_broker_state_change(
                    client, "connections",
                    { _, _, _, name, port, state, opaque in
                        guard let opaque, let name, let state else { return RD_KAFKA_RESP_ERR_NO_ERROR }
                        // Called on a thread of the broker, which holds the broker's lock.
                        Unmanaged<BrokerConnections>.fromOpaque(opaque).takeUnretainedValue().note(
                            name: String(cString: name), port: Int(port), state: String(cString: state),
                            at: SystemClock.now)
                        return RD_KAFKA_RESP_ERR_NO_ERROR
                    }, opaque)
            }, opaque)
    }

    /// Returns the name of the rejected property, and the reason unless it would show a secret.
    private static func refusal(of property: String, value: String, reason: String) -> String {
        let name = KafkaSecurity.settingNames[property].map { "\($0) (\(property))" } ?? "kafka.properties: \(property)"
        let refusal = "\(name) is not accepted by librdkafka \(LibraryVersion.running)"
        if SecretProperties.isSecret(property) { return refusal }

        let advice = reason.contains("not supported in this build") ? "; use a librdkafka that was built with it" : ""
        return refusal + ": " + SecretProperties.hide(SecretProperties.secrets(in: [property: value]), in: reason)
            + advice
    }

    static func text(_ buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension LibraryVersion {
    /// The librdkafka version loaded by this process.
    public static var running: LibraryVersion { LibraryVersion(number: rd_kafka_version()) }
}
