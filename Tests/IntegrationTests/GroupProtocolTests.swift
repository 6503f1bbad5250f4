import Foundation
import Kafka
import TestSupport
import Testing

/// Workers whose partitions the brokers assign (`kafka.groupProtocol=consumer`, KIP-848).
///
/// Here the embedded broker does that. It supports the protocol in the versions of librdkafka whose client supports it.
@Suite(.enabled(if: LibraryVersion.running >= LibraryVersion(2, 12), "needs librdkafka 2.12: make test-newest"))
struct GroupProtocolTests {
    private static let settings = ["KAFKA_GROUP_PROTOCOL": "consumer", "KAFKA_PROPERTIES": "fetch.wait.max.ms=10"]

    /// Sends requests that differ in more than their ids, so that they share no calls.
    /// - Returns: their ids.
    private static func send(
        _ count: Int, named prefix: String, to harness: WorkerHarness, _ more: String = ""
    ) async throws -> Set<String> {
        let ids = (1...count).map { "\(prefix)-\($0)" }
        try await harness.send(
            ids.enumerated().map { WorkerHarness.request($1, "hotpepper", #","limit":\#($0 + 1)"# + more) })
        return Set(ids)
    }

    /// Expects that each request has a result, and that no other outcome comes first, such as a duplicate of an earlier one.
    private static func expectResults(of ids: Set<String>, in harness: WorkerHarness) async throws {
        let outcomes = try await harness.outcomes(ids.count)
        #expect(Set(outcomes.keys) == ids)
        #expect(outcomes.values.allSatisfy { $0.places != nil })
    }

    /// Returns the number of partitions of the harness's own worker.
    private static func partitions(of harness: WorkerHarness) async throws -> Int {
        try await harness.status("assignment", as: [[String: Any]].self)?.count ?? 0
    }

    @Test(.timeLimit(.minutes(3))) func `Every request has one outcome when a worker joins and leaves`() async throws {
        try await WorkerHarness.run(Self.settings) { harness in
            let first = try await Self.send(8, named: "alone", to: harness)
            try await Self.expectResults(of: first, in: harness)

            let second = try RunningProgram(["worker"], environment: harness.environment)
            defer { second.end() }
            try await eventually("each has two partitions", within: .seconds(120)) {
                try await Self.partitions(of: harness) == 2 && second.error.contains(#""owned":"2""#)
            }

            // Some of these are in flight at the second worker when it is drained.
            let slow = try await Self.send(16, named: "leaving", to: harness, #","keyword":"fault:delay=1000""#)
            try await eventually("the provider has all of them") {
                try await harness.count("inFlight", of: "hotpepper") == 16
            }
            second.signal(SIGTERM)
            try await Self.expectResults(of: slow, in: harness)
            try await eventually("the second worker ends", within: .seconds(30)) { !second.isRunning }
            #expect(second.code == 0, "\(second.error)")
            #expect(!second.error.contains(#""completed":"0""#), "it did some of them")

            try await eventually("the first worker has all partitions", within: .seconds(60)) {
                try await Self.partitions(of: harness) == 4
            }
            let last = try await Self.send(8, named: "alone-again", to: harness)
            try await Self.expectResults(of: last, in: harness)
        }
    }
}
