import Kafka

extension ConsumerConfiguration {
    /// The same for a reader on which people look, unless `kafka.properties` says otherwise: a broker that comes back is found
    /// within a second and not within ten, and 8 MB are fetched ahead at most, and not 64.
    var reconnectingSoon: ConsumerConfiguration {
        var configuration = self
        let ours = ["reconnect.backoff.max.ms": "1000", "queued.max.messages.kbytes": "8192"]
        configuration.properties.merge(ours) { theirs, _ in theirs }
        return configuration
    }
}
