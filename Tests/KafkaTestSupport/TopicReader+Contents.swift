package import Kafka
internal import TestSupport

extension TopicReader {
    /// Returns all current records of some topics. Works without a group, and once for each reader.
    /// - Parameter known: the least number of records, for topics in which markers of transactions take offsets too.
    package func contents(of topics: [String], atLeast known: Int? = nil) async throws -> [ConsumerRecord] {
        var count = 0
        for topic in topics {
            count += try await bounds(of: topic, within: .seconds(20)).values.reduce(0) { $0 + $1.count }
        }
        try await open(topics, at: .beginning, within: .seconds(20))
        var all: [ConsumerRecord] = []
        try await eventually("\(count) records of \(topics) are read", within: .seconds(40)) {
            all += try await records(max: 500, within: .milliseconds(200))
            return all.count >= known ?? count
        }
        // There may be more than the known number.
        if known != nil { all += try await records(max: 500, within: .milliseconds(200)) }
        return all
    }
}
