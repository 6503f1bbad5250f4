import Kafka
import Testing

@testable import WorkerRuntime
@testable import locsearch

/// The number of waiting requests that are older than half of their topic's retention.
struct RetentionWatchTests {
    private static let topic = "requests"

    private static func partition(
        _ number: Int32, next: Int64?, committed: Int64? = nil, end: Int64?
    ) -> LaneStatus.Partition {
        LaneStatus.Partition(id: TopicPartition(topic, number), open: 0, committed: committed, end: end, next: next)
    }

    @Test func `Requests before the first recent record are counted`() {
        let waiting = [
            Self.partition(0, next: 10, end: 50),  // 5 are too old
            Self.partition(1, next: nil, committed: 20, end: 30),  // none is
            Self.partition(2, next: 5, end: 9),  // all are
            Self.partition(3, next: nil, end: 9),  // not known
        ]
        let boundaries: [TopicPartition: Int64] = [
            TopicPartition(Self.topic, 0): 15, TopicPartition(Self.topic, 1): 3,
        ]

        #expect(RetentionWatch.endangered(of: waiting, boundaries: boundaries) == 5 + 0 + 4)
    }

    static let retentions: [(String?, Duration?)] = [
        ("604800000", .seconds(604_800)), ("-1", nil), ("0", nil), ("9223372036854775807", .milliseconds(Int64.max)),
        ("9223372036854775808", nil), ("a week", nil), (nil, nil),
    ]

    @Test(arguments: retentions)
    func `The retention is read from the topic's configuration`(text: String?, expected: Duration?) {
        let settings = text.map { ["retention.ms": $0] } ?? [:]
        #expect(RetentionWatch.retention(from: settings) == expected)
    }

    static let middles: [(Duration, now: Int64, expected: Int64)] = [
        (.seconds(3600), 10_000_000, 8_200_000), (.milliseconds(Int64.max), 1_800_000_000_000, 0),
        (.seconds(3600), 0, 0),
    ]

    @Test(arguments: middles)
    func `The middle of a retention is never before 1970`(retention: Duration, now: Int64, expected: Int64) {
        #expect(RetentionWatch.middle(of: retention, before: now) == expected)
    }
}
