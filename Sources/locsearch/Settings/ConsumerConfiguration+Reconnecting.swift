import Kafka

extension ConsumerConfiguration {
    /// The same for a reader on which people look: a broker that comes back is found within a second and not within ten,
    /// unless `kafka.properties` says otherwise.
    var reconnectingSoon: ConsumerConfiguration {
        var configuration = self
        configuration.properties.merge(["reconnect.backoff.max.ms": "1000"]) { theirs, _ in theirs }
        return configuration
    }
}
