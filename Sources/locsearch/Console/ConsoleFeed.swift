import Console
import EventContract
import Kafka
import Logging
import SessionState
import WorkerRuntime

/// Reads requests and outcomes as they go by, and tells the store of sessions and the traffic.
struct ConsoleFeed: Sendable {
    private static let recordsPerTurn = 500
    private static let turn = Duration.milliseconds(200)
    /// The pause before the topics are opened anew after a failure.
    private static let pauseAfterFailure = Duration.seconds(2)
    private static let patience = Duration.seconds(15)

    private let settings: Settings
    private let store: Store
    private let traffic: Traffic
    private let log: Logger
    private let decoder: RequestDecoder
    private let start = EventTime.now()

    init(_ settings: Settings, store: Store, traffic: Traffic, log: Logger) {
        self.settings = settings
        self.store = store
        self.traffic = traffic
        self.log = log
        decoder = RequestDecoder(maximumBytes: settings.integer("worker.maxRequestBytes"))
    }

    /// Opens the topics at the newest records of each partition, so that a page which was there before sees where it was.
    /// - Throws: `KafkaError` when no broker answers.
    func open() async throws -> TopicReader {
        let reader = try TopicReader(try settings.consumer(), log: log)
        let topics = [settings.topics.requests, settings.topics.results, settings.topics.errors]
        let newest = TopicReader.Start.newest(Int64(settings.integer("console.history")))
        try await reader.open(topics, at: newest, within: Self.patience)
        return reader
    }

    /// Reads until its task is cancelled. After a failure the topics are opened anew; what is read twice changes nothing in a
    /// session, and shows twice in the traffic.
    func run(_ opened: TopicReader) async {
        var reader: TopicReader? = opened
        while !Task.isCancelled {
            do {
                if reader == nil { reader = try await open() }
                guard let records = try await reader?.records(max: Self.recordsPerTurn, within: Self.turn) else {
                    continue
                }
                take(records)
            } catch {
                log.warning("the console reads the topics anew", metadata: ["reason": "\(error)"])
                reader = nil
                try? await Task.sleep(for: Self.pauseAfterFailure)
            }
        }
    }

    private func take(_ records: [ConsumerRecord]) {
        var outcomes: (old: [OutcomeRecord], new: [OutcomeRecord]) = ([], [])

        for record in records {
            if record.partition.id.topic == settings.topics.requests {
                takeRequest(record)
            } else {
                let outcome = OutcomeRecord(record)
                if let event = outcome.event { store.dispatch(.outcome(event)) }
                let isNew = outcome.event?.completedAt.map { $0 >= start } ?? false
                if isNew { outcomes.new.append(outcome) } else { outcomes.old.append(outcome) }
            }
        }

        traffic.add(outcomes.old, areNew: false)
        traffic.add(outcomes.new, areNew: true)
    }

    private func takeRequest(_ record: ConsumerRecord) {
        guard let decoded = try? decoder.decode(IncomingRecord(record)), let time = decoded.envelope.time else {
            return
        }
        store.dispatch(.requested(decoded.request, at: time))
    }
}

extension OutcomeRecord {
    fileprivate convenience init(_ record: ConsumerRecord) {
        self.init(
            position: SourcePosition(
                topic: record.partition.id.topic, partition: record.partition.id.partition, offset: record.offset),
            key: record.key, value: record.value, headers: record.headers)
    }
}
