internal import Basics
import Console
import Logging

/// Keeps the pipeline report current. It polls the brokers all the time, and the workers only while a page is open.
struct PipelineWatch: Sendable {
    /// The timeout of each request to the brokers. One reading makes up to four requests.
    static let timeout = Duration.milliseconds(1500)
    /// The period over which rates are computed.
    static let window = Duration.seconds(60)
    private static let interval = Duration.seconds(1)
    private static let intervalUnwatched = Duration.seconds(10)
    private static let intervalOfWorkers = Duration.seconds(2)
    private static let step = Duration.milliseconds(250)
    /// The number of consecutive readings that must fail before brokers are reported as unreachable. A single failure
    /// may be caused by a leader election.
    private static let failuresOfBrokersThatAreAway = 2

    private static let pollsOfARebalance = 4

    let pipeline: Pipeline
    let traffic: Traffic
    let poll: WorkerPoll

    /// Runs until its task is cancelled.
    func run(_ reader: BacklogReader) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await askBrokers(reader) }
            group.addTask { await askWorkers() }
        }
    }

    private func askBrokers(_ opened: BacklogReader) async {
        var reader = opened
        var failures = 0
        while !Task.isCancelled {
            do {
                let backlog = try await reader.read()
                failures = 0
                pipeline.update { ($0.backlog, $0.brokersProblem, $0.groupProblem) = (backlog, nil, nil) }
            } catch {
                failures += 1
                let areAway = (error as? Failure)?.code == Failure.unreachable
                if areAway, failures < Self.failuresOfBrokersThatAreAway { continue }
                pipeline.update {
                    ($0.brokersProblem, $0.groupProblem) = areAway ? ("\(error)", nil) : (nil, "\(error)")
                }
            }
            await pause()
        }
    }

    /// Waits for the next reading, which begins at once when a page is opened.
    private func pause() async {
        let begin = Instant.now
        while !Task.isCancelled {
            let interval = pipeline.isWatched ? Self.interval : Self.intervalUnwatched
            let left = interval - begin.duration(to: .now)
            guard left > .zero else { return }
            try? await Task.sleep(for: min(left, Self.step))
        }
    }

    /// Polls the workers while a page is open. Without a page, the report has no workers, so that none are outdated.
    func askWorkers() async {
        var assigned: [[String: Set<Int32>]] = []
        while !Task.isCancelled {
            let reports = await pipeline.isWatched ? poll.reports() : nil
            var workers = reports.map { poll.count($0) }
            // A partition that moves between workers belongs to none of them for some seconds.
            assigned = workers?.partitions.map { assigned.suffix(Self.pollsOfARebalance) + [$0] } ?? []
            if workers?.partitions != nil { workers?.partitions = WorkerPoll.union(assigned) }
            if let reports { traffic.update(reports) }
            pipeline.update { $0.workers = workers }
            try? await Task.sleep(for: pipeline.isWatched ? Self.intervalOfWorkers : Self.step)
        }
    }
}
