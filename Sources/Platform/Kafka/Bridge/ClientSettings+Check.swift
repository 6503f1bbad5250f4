internal import CRdkafka

extension ConsumerConfiguration {
    /// Validates each property with the library, without creating a client.
    /// - Throws: `configuration` that names the first rejected property.
    package func check() throws(KafkaError) { try ClientSettings.check(librdkafka(.running)) }
}

extension ProducerConfiguration {
    /// Validates each property with the library, without creating a client.
    /// - Throws: `configuration` that names the first rejected property.
    package func check() throws(KafkaError) { try ClientSettings.check(librdkafka(.running)) }
}

extension ClientSettings {
    fileprivate static func check(_ properties: [String: String]) throws(KafkaError) {
        rd_kafka_conf_destroy(try settings(properties))
    }
}
