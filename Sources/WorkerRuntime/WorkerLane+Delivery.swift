internal import Kafka
internal import Logging

/// Outcomes to the broker, with a new producer where the old one fails for good.
extension WorkerLane {
    /// Replacements within a minute beyond which the worker ends: then it is not the producer that is broken.
    private static let mostReplacements = 3

    /// Returns once the brokers have confirmed it. What was paid for is kept until then.
    /// - Parameter handedOver: called when it stands in the producer's queue.
    @inline(__always)
    func deliver(
        _ outgoing: inout Outgoing, of flight: Flight, handedOver: () -> Void
    ) async throws(KafkaError) {
        while true {
            let producer = producer
            do throws(KafkaError) {
                let receipts = try await handOver(&outgoing, of: flight, to: producer)
                handedOver()
                for (index, receipt) in receipts.enumerated() {
                    try await confirm(receipt, of: &outgoing, index, of: flight, by: producer)
                }
                return
            } catch {
                try replace(producer, after: error)
            }
        }
    }

    /// Has a new producer take over. An idempotent producer fails for good when it cannot tell any more what the broker
    /// has (before librdkafka 2.3.0 a lost connection is enough, #4438); what it left unconfirmed may come twice.
    /// Not with `worker.ordering`, where what comes behind could overtake what is sent again.
    /// - Throws: `error` where that cures nothing.
    private func replace(_ failed: KafkaProducer, after error: KafkaError) throws(KafkaError) {
        // Another flight was here first; the failed one's receipts end as `closed` when it is.
        guard failed === producer else { return }
        let now = ContinuousClock.now
        replacements.removeAll { $0 + .seconds(60) < now }
        guard let makeProducer, error.kind == .fatal, failure == nil, configuration.ordering == .unordered,
            replacements.count < Self.mostReplacements
        else { throw error }
        producer = try makeProducer()
        replacements.append(now)
        meters.replacedProducer()
        closings.append(Task { await failed.close() })
        log.warning(
            "producer failed for good: a new one delivers what it left, which may come twice",
            metadata: ["reason": "\(error)"])
    }
}
