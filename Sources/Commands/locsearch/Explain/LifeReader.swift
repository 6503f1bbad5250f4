internal import Basics
import Console
import EventContract
import Kafka
import Logging
import Observability
import WorkerRuntime

/// Reads what became of requests from the topics: the record, its outcomes, its dead letter, and whether it still waits.
struct LifeReader {
    /// How much of the topics is read.
    struct Extent: Sendable {
        /// How far back requests are looked for.
        var since: Duration
        /// The longest time that reading may take. What was not read by then is told.
        var time: Duration
        /// The most records of a topic, the newest, where brokers look nothing up by time, and of the dead-letter topic.
        var newest = 20_000
    }

    /// Requests are looked for in the newest records first, since most that are asked about are new.
    private static let steps: [Duration] = [.seconds(15 * 60), .seconds(2 * 3600)]
    /// Outcomes are looked for so long behind their requests first, then later ones.
    private static let delays: [Duration] = [.seconds(60), .seconds(15 * 60)]
    /// Timestamps are of the clocks of other machines.
    private static let clockDifference = Duration.seconds(60)
    /// More requests than a trace has as a rule; one id that thousands share says nothing.
    private static let mostLives = 50

    private let settings: Settings
    private let timeout: Duration
    private let log: Logger
    private let decoder: RequestDecoder
    private let progress: @Sendable (_ topic: String, _ records: Int) -> Void

    /// - Parameters:
    ///   - timeout: how long the brokers may say nothing.
    ///   - progress: gets the number of records that were read of a topic, now and then.
    init(
        _ settings: Settings, timeout: Duration, log: Logger,
        progress: @escaping @Sendable (_ topic: String, _ records: Int) -> Void = { _, _ in }
    ) {
        self.settings = settings
        self.timeout = timeout
        self.log = log
        self.progress = progress
        decoder = RequestDecoder(maximumBytes: settings.integer("worker.maxRequestBytes"))
    }

    /// Reads the lives of the requests that an id means.
    /// - Returns: No life where none of the topics knows the id.
    /// - Throws: `Failure` when the brokers do not answer.
    func lives(of id: String, extent: Extent) async throws -> RequestLives {
        let sought = SoughtRequest(id, in: settings.topics.requestTopics.map(\.name))
        let scan = try TopicScan(settings, extent: extent, timeout: timeout, log: log, progress: progress)
        let since = EventTime.now().earlier(by: extent.since)

        var findings = Findings(sought, topics: settings.topics, decoder: decoder, mostLives: Self.mostLives)
        try await readLetters(of: scan, into: &findings)
        try await readRequests(of: scan, since: since, into: &findings)
        // Asked for before outcomes are read, which workers publish before they commit: a request that was finished by then has
        // its outcome by now.
        let offsets = await groupOffsets()
        try await readOutcomes(of: scan, since: since, into: &findings)
        // An outcome may tell of a request whose record was not among those that were read.
        try await readMissingRequests(of: scan, into: &findings)

        judge(&findings, by: offsets)
        return findings.result
    }

    // MARK: - The topics

    private func readLetters(of scan: TopicScan, into findings: inout Findings) async throws {
        var reading = findings.letters
        try await scan.read(nil, into: &reading) { record in
            findings.takeLetter(record)
            return true
        }
        findings.letters = reading
    }

    private func readRequests(of scan: TopicScan, since: EventTime, into findings: inout Findings) async throws {
        guard findings.sought.position == nil else { return try await readMissingRequests(of: scan, into: &findings) }

        var readings = findings.requests
        var end: EventTime?
        for start in Self.steps.map({ EventTime.now().earlier(by: $0) }).filter({ $0 > since }) + [since] {
            // All that can be read of a topic is read where reading began with the newest records.
            for index in readings.indices where readings[index].newest == nil && readings[index].problem == nil {
                try await scan.read(TopicScan.Span(since: start, until: end), into: &readings[index]) { record in
                    findings.takeRequest(record)
                }
            }
            end = start
            let areRead = readings.allSatisfy { $0.newest != nil || $0.problem != nil }
            if findings.hasRequests || areRead || scan.isOver { break }
        }
        findings.requests = readings
        try await readMissingRequests(of: scan, into: &findings)
    }

    private func readMissingRequests(of scan: TopicScan, into findings: inout Findings) async throws {
        for position in findings.missingRequests {
            guard let index = findings.requests.firstIndex(where: { $0.topic == position.topic }) else { continue }
            if let record = try await scan.record(at: position, into: &findings.requests[index]) {
                _ = findings.takeRequest(record, isKnownToFit: true)
            }
        }
    }

    /// Outcomes of requests that are known stand behind them. Those of others may stand anywhere.
    private func readOutcomes(of scan: TopicScan, since: EventTime, into findings: inout Findings) async throws {
        let first = findings.firstTime?.earlier(by: Self.clockDifference) ?? since
        let last = findings.lastTime
        let ends = last.map { last in Self.delays.map { last.later(by: $0) } } ?? []

        var start = first
        for end in ends.filter({ $0 < .now() }).map({ EventTime?.some($0) }) + [nil] {
            for path in [\Findings.results, \Findings.errors] {
                var reading = findings[keyPath: path]
                try await scan.read(TopicScan.Span(since: start, until: end), into: &reading) { record in
                    findings.takeOutcome(record)
                    return true
                }
                findings[keyPath: path] = reading
            }
            let areRead = [findings.results, findings.errors].allSatisfy { $0.newest != nil || $0.problem != nil }
            if findings.areAllAnswered || areRead || scan.isOver { return }
            start = end ?? start
        }
    }

    // MARK: - What waits

    private func groupOffsets() async -> Result<OffsetsReport, any Error> {
        await .catching {
            let offsets = try GroupOffsets(settings, group: nil, topic: nil, timeout: timeout, log: log)
            let report = await Result.catching { try await offsets.report() }
            await offsets.close()
            return try report.get()
        }
    }

    /// Says of each request without an outcome how far it has come.
    private func judge(_ findings: inout Findings, by offsets: Result<OffsetsReport, any Error>) {
        for source in findings.open {
            switch offsets {
            case .success(let report): findings.lives[source]?.state = Self.state(of: source, in: report)
            case .failure(let error):
                findings.lives[source]?.state = .unknown("how far the workers have come cannot be told: \(error)")
            }
        }
    }

    private static func state(of source: SourcePosition, in report: OffsetsReport) -> RequestLife.State {
        let partitions = report.partitions.filter { $0.id.topic == source.topic }
        guard let partition = partitions.first(where: { $0.id.partition == source.partition }) else {
            return .unknown("\(source.topic) has no partition \(source.partition)")
        }
        guard partition.commit != nil || partitions.contains(where: { $0.commit != nil }) else {
            return .unknown("the group \(report.group) has committed nothing on \(source.topic) yet")
        }
        return partition.isDone(source.offset) ? .finished : .waiting(before: partition.open(before: source.offset))
    }
}

extension EventTime {
    fileprivate func earlier(by time: Duration) -> EventTime { later(by: .zero - time) }

    fileprivate func later(by time: Duration) -> EventTime {
        EventTime(milliseconds: milliseconds.saturatingAdding(Int64(time.milliseconds(roundedUp: false))))
    }
}
