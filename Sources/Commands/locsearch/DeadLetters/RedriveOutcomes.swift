internal import Basics
import EventContract
import Kafka
import LocationSearch
import Logging
import WorkerRuntime

/// The outcomes of dead letters that went back, as workers publish them.
///
/// It must exist before the first letter is sent, because it reads from where the outcome topics end then.
struct RedriveOutcomes {
    /// A call to a broker that is made between two letters is not made more often than this.
    private static let interval = Duration.milliseconds(100)

    private let reader: TopicReader
    /// The positions of those that were sent and have no outcome yet.
    private var open: Set<SourcePosition> = []
    private var lastRead: Instant?

    /// The number of letters that became a result.
    private(set) var completed = 0
    /// The number of letters that ended with an error, by `error.code`.
    private(set) var failed: [String: Int] = [:]

    /// The topic in which letters come back; `nil`: nobody wants to know.
    private let deadLetters: String?
    /// The positions of those that were sent and have not been seen to come back.
    private var away: Set<SourcePosition> = []
    /// The number of letters that were put aside again.
    private(set) var cameBack = 0
    /// The time at which the last record that was no request got its error.
    private var lastRejection = Instant.now
    /// A record that is no request gets its error and its dead letter at the same time, in any order.
    private static let settling = Duration.seconds(2)

    /// - Parameter bound: how long the brokers have to say where the topics end.
    /// - Parameter seesLetters: true where it matters which letters come back, and not only which fail again.
    /// - Throws: `KafkaError` when they do not, or this user may not read the topics.
    init(_ settings: Settings, within bound: Duration, seesLetters: Bool = false, log: Logger) async throws {
        reader = try TopicReader(try settings.consumer().reconnectingSoon, log: log)
        deadLetters = seesLetters ? settings.topics.deadLetters : nil
        let topics = [settings.topics.results, settings.topics.errors] + (deadLetters.map { [$0] } ?? [])
        try await reader.open(topics, at: .end, within: bound)
    }

    /// True when nothing more is to be learnt.
    var isComplete: Bool {
        guard open.isEmpty else { return false }
        let rejected = failed[SearchError.Code.invalidRequest.rawValue] ?? 0
        return deadLetters == nil || cameBack >= rejected || Instant.now > lastRejection + Self.settling
    }

    /// The number of letters without an outcome so far.
    var openCount: Int { open.count }
    /// The number of letters that ended with an error.
    var failedCount: Int { failed.values.reduce(0, +) }

    /// Notes that a letter went back.
    mutating func expect(_ position: SourcePosition) {
        open.insert(position)
        if deadLetters != nil { away.insert(position) }
    }

    /// Reads outcomes until a time, or until every letter has its own.
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
            // bounded: at most all that were sent
            if let source = letter?.source, away.remove(source) != nil { cameBack += 1 }
            return
        }

        // Most outcomes are of other requests, and only their headers are looked at.
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

    /// The error codes with their numbers, the most frequent first: `invalid-request 3, timeout 1`.
    var codes: String {
        failed.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\(TerminalText.safe($0.key)) \($0.value)" }.joined(separator: ", ")
    }

    /// One line that says what came of all that were sent.
    /// - Parameter sent: the number of letters that went back.
    /// - Parameter wait: how long outcomes were waited for behind the last letter.
    func summary(of sent: Int, waited wait: Duration) -> String {
        let answered = completed + failedCount
        var parts: [String] = []
        if completed > 0 { parts.append("\(completed.grouped) with a result") }
        if failedCount > 0 { parts.append("\(failedCount.grouped) failed again (\(codes))") }
        let what = parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")

        let missing =
            openCount > 0 ? "; \(openCount.grouped) have no outcome \(wait.readable) after the last went back" : ""
        return "\(answered.grouped) of \(sent.grouped) were answered\(what)\(missing)"
    }
}
