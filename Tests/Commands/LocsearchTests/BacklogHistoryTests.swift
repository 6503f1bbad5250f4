import Basics
import Console
import Kafka
import KafkaTestSupport
import TestSupport
import Testing
import WorkerRuntime

@testable import locsearch

/// A group's rates, computed from successive readings.
struct BacklogHistoryTests {
    private let begin = Instant.now

    /// Takes in one reading each second, and returns the last result.
    private func last(
        of readings: [(end: Int64, waiting: Int64?)], window: Duration = .seconds(60), partitions: [Int]? = nil
    ) -> GroupBacklog {
        var history = BacklogHistory(over: window)
        var last = GroupBacklog(group: "g", topic: "t", time: .now(), partitions: [])
        for (number, reading) in readings.enumerated() {
            // Any further partitions are empty.
            let others = (1..<(partitions?[number] ?? 1)).map {
                GroupBacklog.Partition(number: Int32($0), end: 0, waiting: 0)
            }
            last.partitions = [.init(number: 0, end: reading.end, waiting: reading.waiting)] + others
            (last.rates, last.isProgressing) = (nil, false)
            history.complete(&last, readAt: begin + .seconds(number))
        }
        return last
    }

    @Test func `Rates cover the window`() {
        let backlog = last(of: [(100, 40), (110, 45), (130, 45), (135, 40)])
        #expect(backlog.rates == .init(window: .seconds(3), arrived: 35.0 / 3, finished: 35.0 / 3))
        #expect(backlog.isProgressing)

        let short = last(of: [(100, 40), (110, 45), (130, 45), (135, 40)], window: .seconds(1))
        #expect(short.rates == .init(window: .seconds(1), arrived: 5, finished: 10))
        #expect(short.workOff == .time(.seconds(4)))
    }

    @Test func `A group that makes no progress never works off its backlog`() {
        let backlog = last(of: [(100, 40), (110, 50), (120, 60)])
        #expect(backlog.rates?.finished == 0)
        #expect(backlog.workOff == .never)
        #expect(!backlog.isProgressing)

        let stopped = last(of: [(100, 40), (100, 20), (100, 20)])
        #expect(stopped.rates?.finished == 10)
        #expect(!stopped.isProgressing, "there was no progress in the last reading")
        let done = last(of: [(100, 0), (100, 0)])
        #expect(done.workOff == .time(.zero))
    }

    @Test(
        arguments: [
            // There is one reading; the topic was recreated, offsets were reset, or the commit is gone.
            [(100, 40)], [(100, 0), (3, 3)], [(100, 10), (100, 100)], [(100, 0), (100, nil)],
        ] as [[(end: Int64, waiting: Int64?)]])
    func `Readings that cannot be compared give no rate`(readings: [(end: Int64, waiting: Int64?)]) {
        let backlog = last(of: readings)
        #expect(backlog.rates == nil && backlog.workOff == .unknown)
        #expect(last(of: [(100, 0), (150, 0)], partitions: [1, 2]).rates == nil, "another number of partitions")
    }

    @Test func `Readings further apart than the window are still compared`() {
        let backlog = last(of: [(100, 40), (110, 40)], window: .milliseconds(100))
        #expect(backlog.rates == .init(window: .seconds(1), arrived: 10, finished: 10))
    }

    @Test func `The whole log of a partition without a commit is waiting`() {
        let ids = (0..<2).map { TopicPartition("t", $0) }
        let report = OffsetsReport(
            group: "g", topics: [RequestTopic("t")], presence: .described(.unknown),
            partitions: [
                PartitionOffsets(ids[0], bounds: 5..<15, commit: nil),
                PartitionOffsets(ids[1], bounds: 0..<7, commit: CommittedOffset(7)),
            ])
        #expect(report.waiting[ids[0]] == WaitingRequests(first: 5, count: 10))
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567")] as [(Int64, String)])
    func `Large counts have separators between thousands`(number: Int64, text: String) {
        #expect(number.grouped == text)
    }
}
