internal import Basics
import Console
import EventContract
import HTTPTransport
import Kafka
import LocationSearch
import Logging
import Synchronization
import WorkerRuntime

/// The console's way to Kafka and to pictures.
final class KafkaConsoleBackend: ConsoleBackend {
    /// How long the broker may say nothing before a page is told.
    private static let timeout = Duration.seconds(10)
    /// How long the broker has to take a request. A page says within 5 s that it does not.
    private static let sendTimeout = Duration.seconds(3)
    private static let pictureTimeout = Duration.seconds(5)
    /// How much of the dead-letter topic a list is made from, and how long the list is kept for the next page.
    private static let extentOfList = DeadLetterTopic.Extent(records: 20_000, time: .seconds(30))
    private static let lifetimeOfList = Duration.seconds(2)

    private let settings: Settings
    private let sender: RequestSender
    private let http: HTTPTransport
    private let pipeline: Pipeline
    private let log: Logger
    private let isRedriving = Atomic(false)
    /// One list for all pages, because each is made by reading the topic.
    private let list: SharedReading<DeadLetterTopic.Snapshot, ConsoleError>

    init(_ settings: Settings, http: HTTPTransport, pipeline: Pipeline, log: Logger) async throws {
        self.settings = settings
        self.pipeline = pipeline
        self.http = http
        self.log = log
        sender = try await RequestSender(settings, timeout: Self.sendTimeout, log: log)
        list = SharedReading(keptFor: Self.lifetimeOfList) {
            do throws(ConsoleError) {
                return .success(try await Self.snapshot(of: Self.topic(settings, log: log), extent: Self.extentOfList))
            } catch {
                return .failure(error)
            }
        }
    }

    func close() async { await sender.close() }

    // MARK: - Requests

    func send(_ request: SearchRequest, at time: EventTime, expiry: EventTime) async throws(ConsoleError) {
        do {
            try await sender.send(request, at: time, expiry: expiry)
        } catch {
            throw ConsoleError(.unavailable, "\(settings.topics.requests) does not take the request: \(error)")
        }
    }

    // MARK: - Dead letters

    func deadLetters(limit: Int) async throws(ConsoleError) -> DeadLetterList {
        let snapshot = try await list.value()
        let pending = snapshot.letters.count(where: \.isPending)
        return DeadLetterList(
            total: snapshot.letters.count, pending: pending,
            letters: snapshot.letters.suffix(limit).reversed().map { DeadLetterList.Letter($0) },
            version: snapshot.version, isPartial: snapshot.isPartial)
    }

    func redrive(
        _ letters: Set<DeadLetterList.Position>, ofVersion version: String
    ) async throws(ConsoleError) -> DeadLetterList.Redriven {
        // Two at a time would not see each other's marks, and send a letter twice.
        guard !isRedriving.exchange(true, ordering: .acquiringAndReleasing) else {
            throw ConsoleError(.changed, "somebody else is sending dead letters back: look again in a moment")
        }
        defer {
            list.forget()
            isRedriving.store(false, ordering: .releasing)
        }

        // A version that is not the topic's is refused before all of the topic is read. Only all of it tells what went back.
        let topic = try Self.topic(settings, log: log)
        guard try await Self.asking({ try await topic.version() }) == version,
            case let snapshot = try await Self.snapshot(of: topic, extent: .whole), snapshot.version == version
        else {
            throw ConsoleError(.changed, "there are other dead letters by now: look at them again")
        }

        let chosen = snapshot.letters.filter { letters.contains(DeadLetterList.Position($0.mark)) }
        let plan = RedrivePlan(chosen, limit: nil)
        guard plan.crashing == 0 else {
            throw ConsoleError(
                .invalid,
                """
                worker processes have crashed with \(plan.crashing) of them, so nothing was sent: once the cause is mended, \
                `locsearch dead-letters redrive --force` sends them
                """)
        }
        let deleted = try await send(plan.chosen, of: snapshot, in: topic)
        return DeadLetterList.Redriven(redriven: plan.chosen.count - deleted, deleted: deleted)
    }

    /// - Returns: the number of letters that the topic had deleted.
    private func send(
        _ letters: [DeadLetterSummary], of snapshot: DeadLetterTopic.Snapshot, in topic: DeadLetterTopic
    ) async throws(ConsoleError) -> Int {
        do {
            let redriver = try Redriver(settings, log: log)
            let result = await Result.catching {
                try await topic.forEach(letters, of: snapshot) { letter, mark in
                    try await redriver.send(letter, marking: mark)
                }
            }
            await redriver.close()
            return try result.get()
        } catch {
            throw ConsoleError(.unavailable, "not all of them went back, look again: \(error)")
        }
    }

    private static func topic(_ settings: Settings, log: Logger) throws(ConsoleError) -> DeadLetterTopic {
        do {
            return try DeadLetterTopic(settings, timeout: timeout, log: log)
        } catch {
            throw ConsoleError(.unavailable, "\(error)")
        }
    }

    private static func snapshot(
        of topic: DeadLetterTopic, extent: DeadLetterTopic.Extent
    ) async throws(ConsoleError) -> DeadLetterTopic.Snapshot {
        try await asking { try await topic.snapshot(of: extent) }
    }

    private static func asking<Value>(_ body: () async throws -> Value) async throws(ConsoleError) -> Value {
        do {
            return try await body()
        } catch {
            throw ConsoleError(.unavailable, "\(error)")
        }
    }

    // MARK: - Controls

    func controls() async throws(ConsoleError) -> ControlList {
        try await ConsoleControls(settings: settings, log: log).list()
    }

    func control(_ choice: PauseChoice) async throws(ConsoleError) -> ControlResult {
        try await ConsoleControls(settings: settings, log: log).make(choice)
    }

    // MARK: - Metrics

    func metrics() async -> String { PipelineMetrics.text(of: pipeline.report) }

    // MARK: - Pictures

    func picture(at url: String) async -> Picture? {
        let answer = try? await http.send(HTTPRequest(url: url), before: .now + Self.pictureTimeout)
        guard let answer, answer.status == 200 else { return nil }
        return Picture(contentType: answer.contentType, bytes: answer.body)
    }
}

extension Result where Failure == any Error {
    static func catching(_ body: () async throws -> Success) async -> Result {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

extension DeadLetterList.Position {
    fileprivate init(_ mark: RedriveMark) { self.init(partition: mark.partition, offset: mark.offset) }
}

extension DeadLetterList.Letter {
    fileprivate init(_ letter: DeadLetterSummary) {
        self.init(
            position: DeadLetterList.Position(letter.mark), reason: letter.reason, message: letter.message,
            source: letter.source, time: letter.time, valueHead: letter.valueHead?.text ?? "",
            isRedriven: letter.isRedriven, isWithoutContent: letter.isWithoutContent)
    }
}
