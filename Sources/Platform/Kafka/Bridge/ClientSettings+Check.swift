internal import CRdkafka

extension ConsumerConfiguration {
    /// Tries each property on the library without making a client.
    /// - Throws: `configuration` that names the first property that is refused.
    package func check() throws(KafkaError) { try ClientSettings.check(librdkafka(.running)) }
}

extension ProducerConfiguration {
    /// Tries each property on the library without making a client.
    /// - Throws: `configuration` that names the first property that is refused.
    package func check() throws(KafkaError) { try ClientSettings.check(librdkafka(.running)) }
}

extension ClientSettings {
    fileprivate static func check(_ properties: [String: String]) throws(KafkaError) {
        rd_kafka_conf_destroy(try settings(properties))
    }
}
