import EventContract
import Kafka
import LocationSearch
import Logging
import WorkerRuntime

/// Reads the outcomes of redriven letters from the outcome topics.
///
/// Create it before the first letter is sent, because it reads from the current ends of those topics.
struct RedriveOutcomes {
    /// The minimum interval between two broker calls while letters are being sent.
    private static let interval = Duration.milliseconds(100)

    private let reader: TopicReader
    /// The positions of the requests that have no outcome yet.
    private var open: Set<SourcePosition> = []
    private var lastRead: Instant?

    /// The number of letters that produced a result.
    private(set) var completed = 0
    /// The number of letters that produced an error, by `error.code`.
    private(set) var failed: [String: Int] = [:]

    /// The dead-letter topic, in which letters that are rejected again arrive.
    private let deadLetters: String
    /// The positions of the requests that have not returned to the dead-letter topic.
    private var notReturned: Set<SourcePosition> = []
    /// The number of letters that were rejected again.
    private(set) var rejectedAgain = 0
    /// The time at which the latest `invalid-request` error was read.
    private var lastRejection = Instant.now
    /// An invalid record gets its error and its dead letter at about the same time, in any order.
    private static let settling = Duration.seconds(2)

    /// - Parameter bound: how long the brokers may take to return the ends of the topics.
    /// - Throws: `KafkaError` if the brokers do not answer in time, or this user may not read the topics.
    init(_ settings: Settings, within bound: Duration, log: Logger) async throws {
        reader = try TopicReader(try settings.consumer().reconnectingSoon, log: log)
        deadLetters = settings.topics.deadLetters
        let topics = [settings.topics.results, settings.topics.errors, deadLetters]
        try await reader.open(topics, at: .end, within: bound)
    }

    /// True if no further outcomes or dead letters are expected.
    var isComplete: Bool {
        guard open.isEmpty else { return false }
        let rejected = failed[SearchError.Code.invalidRequest.rawValue] ?? 0
        return rejectedAgain >= rejected || Instant.now > lastRejection + Self.settling
    }

    /// The number of letters without an outcome so far.
    var openCount: Int { open.count }
    var failedCount: Int { failed.values.reduce(0, +) }

    /// Registers a letter that was redriven.
    mutating func expect(_ position: SourcePosition) {
        open.insert(position)
        notReturned.insert(position)
    }

    /// Reads outcomes until the deadline, or until every letter has one.
    mutating func read(until deadline: Instant) async throws {
        while !isComplete {
            let now = Instant.now
            guard now < deadline || (lastRead.map { now - $0 >= Self.interval } ?? true) else { return }

            lastRead = now
            let left = max(.zero, min(deadline - now, .milliseconds(500)))
            for record in try await reader.records(max: 500, within: left) { take(record) }
            if Instant.now >= deadline { return }
        }
    }

    private mutating func take(_ record: ConsumerRecord) {
        let headers = record.headers
        if record.partition.id.topic == deadLetters {
            let letter = DeadLetter(key: nil, value: nil, headers: headers)
            // bounded: at most the number of letters sent
            if let source = letter?.source, notReturned.remove(source) != nil { rejectedAgain += 1 }
            return
        }

        // Most outcomes belong to other requests, so only their headers are read.
        guard let source = SourcePosition(headers: headers), open.remove(source) != nil else { return }

        guard let event = try? OutcomeReader().read(value: record.value, headers: headers),
            case .failed(let failure) = event.body
        else {
            completed += 1
            return
        }
        failed[failure.code, default: 0] += 1
        if failure.code == SearchError.Code.invalidRequest.rawValue { lastRejection = .now }
    }

    /// The error codes with their counts, most frequent first: `invalid-request 3, timeout 1`.
    var codes: String {
        failed.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\(TerminalText.safe($0.key)) \($0.value)" }.joined(separator: ", ")
    }

    /// Summarises the outcomes of all letters sent, in one line.
    /// - Parameter sent: the number of letters that were redriven.
    /// - Parameter wait: how long outcomes were read after the last letter.
    func summary(of sent: Int, waited wait: Duration) -> String {
        let outcomeCount = completed + failedCount
        var counts: [String] = []
        if completed > 0 { counts.append("\(completed.grouped) with a result") }
        if failedCount > 0 { counts.append("\(failedCount.grouped) failed again (\(codes))") }
        let details = counts.isEmpty ? "" : ": " + counts.joined(separator: ", ")

        let missing =
            openCount > 0 ? "; \(openCount.grouped) have no outcome \(wait.readable) after the last went back" : ""
        return "\(outcomeCount.grouped) of \(sent.grouped) were answered\(details)\(missing)"
    }
}
