import Kafka

extension ConsumerConfiguration {
    /// A copy for interactive commands. It reconnects to a broker within one second instead of ten, and prefetches at
    /// most 8 MB instead of 64 MB. `kafka.properties` overrides both.
    var reconnectingSoon: ConsumerConfiguration {
        var configuration = self
        let ours = ["reconnect.backoff.max.ms": "1000", "queued.max.messages.kbytes": "8192"]
        configuration.properties.merge(ours) { theirs, _ in theirs }
        return configuration
    }
}
