import Console
import EventContract
import Kafka
import Logging
import Observability
import WorkerRuntime

/// Reads everything about a request from the topics: its record, outcomes and dead letter, and whether it is still
/// waiting.
struct LifeReader {
    /// Most searches are for recent requests, so the newest records are read first.
    private static let steps: [Duration] = [.seconds(15 * 60), .seconds(2 * 3600)]
    /// Outcomes are searched for within these delays after their requests first, then later ones.
    private static let delays: [Duration] = [.seconds(60), .seconds(15 * 60)]
    /// Timestamps come from the clocks of other machines.
    private static let clockDifference = Duration.seconds(60)
    /// More requests than a trace usually has. An id shared by thousands of requests identifies none of them.
    private static let mostLives = 50

    private let settings: Settings
    private let timeout: Duration
    private let log: Logger
    private let decoder: RequestDecoder
    private let progress: @Sendable (_ topic: String, _ records: Int) -> Void

    /// - Parameters:
    ///   - timeout: how long a call waits for the brokers.
    ///   - progress: called now and then with the number of records read from a topic.
    init(
        _ settings: Settings, timeout: Duration, log: Logger,
        progress: @escaping @Sendable (_ topic: String, _ records: Int) -> Void = { _, _ in }
    ) {
        (self.settings, self.timeout, self.log, self.progress) = (settings, timeout, log, progress)
        decoder = RequestDecoder(maximumBytes: settings.integer("worker.maxRequestBytes"))
    }

    /// Reads the lives of the requests identified by an id.
    /// - Returns: no life if the id was found in none of the topics.
    /// - Throws: `Failure` if the brokers do not answer.
    func lives(of id: String, extent: TopicScan.Extent) async throws -> RequestLives {
        let sought = SoughtRequest(id, in: settings.topics.requestTopics.map(\.name))
        let scan = try TopicScan(settings, extent: extent, timeout: timeout, log: log, progress: progress)
        let since = WallTime.now().adding(.zero - extent.since)

        var findings = Findings(sought, topics: settings.topics, decoder: decoder, mostLives: Self.mostLives)
        try await readLetters(of: scan, into: &findings)
        try await readRequests(of: scan, since: since, into: &findings)
        // The offsets are read before the outcomes. Workers publish an outcome before they commit, so a request that is
        // done by these offsets has its outcome in the topic by now.
        let offsets = await groupOffsets()
        try await readOutcomes(of: scan, since: since, into: &findings)
        // An outcome may belong to a request whose record has not been read yet.
        try await readMissingRequests(of: scan, into: &findings)

        judge(&findings, by: offsets)
        var result = findings.result
        guard let prices = try? CallPrices(settings) else { return result }
        for index in result.lives.indices {
            result.lives[index].charges = prices.charges(of: result.lives[index], decoder: decoder)
        }
        return result
    }

    // MARK: - Topics

    private func readLetters(of scan: TopicScan, into findings: inout Findings) async throws {
        var reading = findings.letters
        try await scan.read(nil, into: &reading) { record in
            findings.takeLetter(record)
            return true
        }
        findings.letters = reading
    }

    private func readRequests(of scan: TopicScan, since: WallTime, into findings: inout Findings) async throws {
        guard findings.sought.position == nil else { return try await readMissingRequests(of: scan, into: &findings) }

        var readings = findings.requests
        var end: WallTime?
        for start in Self.steps.map({ WallTime.now().adding(.zero - $0) }).filter({ $0 > since }) + [since] {
            // A topic that was read by its newest records is already complete.
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

    /// Outcomes of known requests come after them. Outcomes of unknown requests may be anywhere.
    private func readOutcomes(of scan: TopicScan, since: WallTime, into findings: inout Findings) async throws {
        let first = findings.firstTime?.adding(.zero - Self.clockDifference) ?? since
        let last = findings.lastTime
        let ends = last.map { last in Self.delays.map { last.adding($0) } } ?? []

        var start = first
        for end in ends.filter({ $0 < .now() }).map({ WallTime?.some($0) }) + [nil] {
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

    // MARK: - Group offsets

    private func groupOffsets() async -> Result<OffsetsReport, any Error> {
        await .catching {
            let offsets = try GroupOffsets(settings, group: nil, topic: nil, timeout: timeout, log: log)
            return try await offsets.report()
        }
    }

    /// Sets the state of each request without an outcome.
    private func judge(_ findings: inout Findings, by offsets: Result<OffsetsReport, any Error>) {
        for source in findings.open {
            switch offsets {
            case .success(let report): findings.lives[source]?.state = Self.state(of: source, in: report)
            case .failure(let error):
                findings.lives[source]?.state = .unknown("the progress of the workers is unknown: \(error)")
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
