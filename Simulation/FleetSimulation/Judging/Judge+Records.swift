import EventContract
import LocationSearch
import ProviderCalls
import SimulatedKafka

/// Rules about the contents of outcomes.
extension Judge {
    /// Checks that only an outcome that is too large itself is truncated, not one that shared a batch with it.
    mutating func judgeShortening() {
        let words = Array(SearchError.resultTooLarge.message.utf8)
        for entry in world.outputs(of: "errors").joined() {
            guard let value = entry.record.value, Self.contains(words, in: value),
                let source = world.source(of: entry.record),
                let request = world.requestAt[source.partition]?[source.offset], !world.plan.isLarge(request.keyword)
            else { continue }
            find(.shortened, "r\(request.number) at \(source.partition)@\(source.offset)")
        }
    }

    /// Returns whether bytes contain some text. The standard library's `contains` takes several times as long as all other rules.
    private static func contains(_ words: [UInt8], in bytes: [UInt8]) -> Bool {
        guard let first = words.first, bytes.count >= words.count else { return false }
        return (0...bytes.count - words.count).contains { start in
            bytes[start] == first && bytes[start..<start + words.count].elementsEqual(words)
        }
    }

    /// Checks that requests of aborted transactions are ignored, because readers of committed records never see them.
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
