import Console
import EventContract
import HTTPTransport
import Kafka
import LocationSearch
import Logging
import WorkerRuntime

/// Connects the console to Kafka and to the source of pictures.
final class KafkaConsoleBackend: ConsoleBackend {
    /// How long the broker may take to accept a request. A page shows the failure within 5 s.
    private static let sendTimeout = Duration.seconds(3)
    private static let pictureTimeout = Duration.seconds(5)

    /// How much of the topics is read for the page of one request.
    private static let extentOfLives = TopicScan.Extent(since: .seconds(24 * 3600), time: .seconds(20))
    private static let lifeTimeout = Duration.seconds(4)

    let settings: Settings
    private let sender: RequestSender
    private let http: HTTPTransport
    private let pipeline: Pipeline
    let log: Logger
    private let deadLetterService: DeadLetterService

    init(_ settings: Settings, http: HTTPTransport, pipeline: Pipeline, log: Logger) async throws {
        (self.settings, self.pipeline, self.log, self.http) = (settings, pipeline, log, http)
        deadLetterService = DeadLetterService(settings, log: log)
        sender = try await RequestSender(settings, timeout: Self.sendTimeout, log: log)
    }

    func close() async {
        await deadLetterService.close()
        await sender.close()
    }

    // MARK: - Requests

    func send(_ request: SearchRequest, at time: WallTime, expiry: WallTime) async throws(ConsoleError) {
        do {
            // The user is waiting at the page.
            try await sender.send(request, at: time, expiry: expiry, priority: .interactive)
        } catch {
            throw ConsoleError(.unavailable, "\(settings.topics.requests) does not accept the request: \(error)")
        }
    }

    func lives(of id: String) async throws(ConsoleError) -> RequestLives {
        let reader = LifeReader(settings, timeout: Self.lifeTimeout, log: log)
        return try await ConsoleError.asking { try await reader.lives(of: id, extent: Self.extentOfLives) }
    }

    // MARK: - Dead letters

    func deadLetters(_ query: DeadLetterQuery) async throws(ConsoleError) -> [UInt8] {
        try await deadLetterService.list(query).json
    }

    func deadLetter(at position: RedriveMark) async throws(ConsoleError) -> [UInt8] {
        try await deadLetterService.whole(position)
    }

    func judge(_ value: [UInt8], ofLetterAt position: RedriveMark) async throws(ConsoleError) -> SearchError? {
        try await deadLetterService.fault(of: value, in: position)
    }

    func redrive(_ choice: RedriveChoice) async throws(ConsoleError) -> (id: Int, report: RedriveReport) {
        try await deadLetterService.redrive(
            choice.letters, ofVersion: choice.version, expiry: choice.expiry, again: choice.again)
    }

    func redriveReport(_ id: Int) -> RedriveReport? { deadLetterService.report(id) }

    // MARK: - Metrics

    func metrics() async -> String { PipelineMetrics.text(of: pipeline.report) }

    // MARK: - Pictures

    func picture(at url: String) async -> Picture? {
        let answer = try? await http.send(HTTPRequest(url: url), before: .now + Self.pictureTimeout)
        guard let answer, answer.status == 200 else { return nil }
        return Picture(contentType: answer.contentType, bytes: answer.body)
    }
}

extension ConsoleError {
    /// Runs a request to the brokers. Any failure except a `ConsoleError` means that the brokers are unreachable.
    static func asking<Value>(_ body: () async throws -> Value) async throws(ConsoleError) -> Value {
        do {
            return try await body()
        } catch {
            throw error as? ConsoleError ?? ConsoleError(.unavailable, "\(error)")
        }
    }
}
