import LocationSearch
import ProviderCalls
import SimulatedKafka

/// What outcomes may say.
extension Judge {
    /// Only the outcome that is too large itself is shortened, not one that shared a batch with it.
    mutating func judgeShortening() {
        let words = Array(SearchError.resultTooLarge.message.utf8)
        for entry in world.outputs(of: "errors").joined() {
            guard let value = entry.record.value, value.contains(words),
                let source = RequestRecord.source(of: entry.record),
                let request = world.requestAt[source.partition]?[source.offset], !world.plan.isLarge(request.keyword)
            else { continue }
            find(.shortened, "r\(request.number) at \(source.partition)@\(source.offset)")
        }
    }

    /// A request of an aborted transaction was never written, as far as anybody can tell.
    mutating func judgeAborted(_ outcomes: [PartitionID: [Int64: Int]]) {
        if world.provider.calls.contains(where: { $0.keyword == FleetPlan.abortedKeyword }) {
            find(.aborted, "the provider was called for one")
        }
        for (partition, answered) in outcomes.sorted(by: { $0.key < $1.key }) {
            for offset in answered.keys.sorted() where world.requestAt[partition]?[offset] == nil {
                find(.aborted, "\(partition)@\(offset) has an outcome")
            }
        }
    }
}
