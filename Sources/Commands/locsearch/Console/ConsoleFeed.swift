import Console
import EventContract
import Kafka
import Logging
import SessionState
import WorkerRuntime

/// Reads new requests and outcomes, and passes them to the session store and the traffic view.
struct ConsoleFeed: Sendable {
    private static let recordsPerTurn = 500
    private static let turn = Duration.milliseconds(200)
    /// The pause before the topics are opened again after a failure.
    private static let pauseAfterFailure = Duration.seconds(2)
    private static let timeout = Duration.seconds(15)
    /// The number of records that are read from each partition at the start.
    private static let history: Int64 = 200

    private let settings: Settings
    private let requestTopics: Set<String>
    private let store: Store
    private let traffic: Traffic
    private let log: Logger
    private let decoder: RequestDecoder
    private let start = WallTime.now()

    init(_ settings: Settings, store: Store, traffic: Traffic, log: Logger) {
        self.settings = settings
        requestTopics = Set(settings.topics.requestTopics.map(\.name))
        (self.store, self.traffic, self.log) = (store, traffic, log)
        decoder = RequestDecoder(maximumBytes: settings.integer("worker.maxRequestBytes"))
    }

    /// Opens the topics at the newest records of each partition, so that pages opened before a restart get their
    /// history back.
    /// - Throws: `KafkaError` if no broker answers.
    func open() async throws -> TopicReader {
        let reader = try TopicReader(try settings.consumer().reconnectingSoon, log: log)
        let topics = requestTopics.sorted() + [settings.topics.results, settings.topics.errors]
        let newest = TopicReader.Start.newest(Self.history)
        try await reader.open(topics, at: newest, within: Self.timeout)
        return reader
    }

    /// Reads until its task is cancelled. After a failure it opens the topics again. A record that is read twice
    /// changes nothing in a session, and appears twice in the traffic view.
    func run(_ opened: TopicReader) async {
        var reader: TopicReader? = opened
        var progress = Progress()
        while !Task.isCancelled {
            do {
                if reader == nil { reader = try await open() }
                guard let records = try await reader?.records(max: Self.recordsPerTurn, within: Self.turn) else {
                    continue
                }
                take(records, progress: &progress)
            } catch {
                log.warning("the console reopens the topics", metadata: ["reason": "\(error)"])
                reader = nil
                try? await Task.sleep(for: Self.pauseAfterFailure)
            }
        }
    }

    /// The state that the feed keeps between two reads.
    private struct Progress {
        var requestTimes = RequestTimes()
        var early = EarlyOutcomes(mostTurns: 10)
        /// Outcomes from before the start. Partitions are read one after another, so these outcomes are sorted before
        /// they are shown.
        var history: [OutcomeRecord] = []
        /// The number of consecutive reads without such an outcome.
        var turnsWithoutHistory = 0
    }

    /// The most outcomes from before the start that are sorted together, and the number of reads without one after
    /// which the history is complete.
    private static let mostHistory = 5000
    private static let turnsThatEndHistory = 2

    private func take(_ records: [ConsumerRecord], progress: inout Progress) {
        // Requests come first: the waiting time of an outcome is known only once its request has been read.
        for record in records where isRequest(record) {
            progress.requestTimes.note(record)
            takeRequest(record)
        }

        var old: [OutcomeRecord] = []
        var new = progress.early.takeReady(progress.requestTimes).map { outcome(of: $0, times: progress.requestTimes) }
        for record in records where !isRequest(record) {
            let outcome = outcome(of: record, times: progress.requestTimes)
            if let event = outcome.event { store.dispatch(.outcome(event)) }
            let isNew = outcome.event?.completedAt.map { $0 >= start } ?? false

            if isNew, let request = outcome.event?.source, requestTopics.contains(request.topic),
                progress.requestTimes.isYetToCome(request)
            {
                progress.early.add(record, of: request)
            } else if isNew {
                new.append(outcome)
            } else {
                old.append(outcome)
            }
        }

        takeHistory(old, progress: &progress)
        traffic.add(new, areNew: true)
    }

    private func outcome(of record: ConsumerRecord, times: RequestTimes) -> OutcomeRecord {
        OutcomeRecord(record) { requestTopics.contains($0.topic) ? times[$0] : nil }
    }

    private func takeHistory(_ outcomes: [OutcomeRecord], progress: inout Progress) {
        progress.history.append(contentsOf: outcomes)
        // bounded: a few increments a second
        progress.turnsWithoutHistory = outcomes.isEmpty ? progress.turnsWithoutHistory + 1 : 0

        let isOver = progress.turnsWithoutHistory >= Self.turnsThatEndHistory
        guard isOver || progress.history.count > Self.mostHistory else { return }
        traffic.addHistory(progress.history)
        progress.history = []
    }

    private func isRequest(_ record: ConsumerRecord) -> Bool { requestTopics.contains(record.partition.id.topic) }

    private func takeRequest(_ record: ConsumerRecord) {
        guard let decoded = try? decoder.decode(record), let time = decoded.envelope.time else { return }
        store.dispatch(.requested(decoded.request, at: time))
    }
}

extension OutcomeRecord {
    fileprivate convenience init(_ record: ConsumerRecord, requestTime: (SourcePosition) -> WallTime?) {
        self.init(
            position: record.source, key: record.key, value: record.value, headers: record.headers,
            writtenAt: record.time, requestTime: requestTime)
    }
}
