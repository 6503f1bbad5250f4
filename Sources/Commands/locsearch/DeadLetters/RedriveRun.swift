import EventContract
import EventLoop
import Kafka
import Logging
import WorkerRuntime

/// One run that redrives chosen dead letters at a limited rate, each to the topic chosen by `RedriveTargets`, and reads
/// their outcomes meanwhile.
///
/// A letter is written to the request topic before it is marked, and marked before the next letter is sent. If the
/// process ends at any point, the next run repeats at most one letter, and none is lost.
struct RedriveRun {
    /// The default rate, in letters a second. It is low because each letter may cost a provider call.
    static let defaultRate = 20.0

    /// The rate in letters a second.
    let rate: Double
    /// Letters with an expiry get a new one, this long after they are sent; `nil`: they keep theirs.
    var expiry: Duration?
    /// The number of letters that were redriven.
    private(set) var sent = 0
    /// The outcomes so far; `nil` if they are not read.
    private(set) var outcomes: RedriveOutcomes?
    /// Why reading outcomes stopped.
    private(set) var outcomesProblem: String?

    private let loop: EventLoop
    private let producer: KafkaProducer
    private let targets: RedriveTargets
    private let deadLetters: String

    /// Call `close` at the end.
    init(_ settings: Settings, rate: Double, outcomes: RedriveOutcomes?, log: Logger) throws {
        self.rate = rate
        self.outcomes = outcomes
        loop = try EventLoop()
        var configuration = try settings.producer()
        configuration.linger = .zero  // records are sent one at a time, so there is nothing to batch
        producer = try KafkaProducer(loop: loop, configuration: configuration, log: log)
        targets = RedriveTargets(settings.topics)
        deadLetters = settings.topics.deadLetters
    }

    func close() async {
        await producer.close()
        loop.stop()
    }

    /// Sends one letter after another.
    /// - Parameter values: the edited values; all other letters are sent unchanged.
    /// - Parameter progress: called after each letter.
    /// - Returns: the number of letters that the topic deleted before they could be redriven.
    /// - Throws: `Failure` that states how many letters were redriven.
    mutating func send(
        _ chosen: [DeadLetterSummary], of snapshot: DeadLetterTopic.Snapshot, in topic: DeadLetterTopic,
        values: [RedriveMark: [UInt8]] = [:], progress: (RedriveRun) -> Void
    ) async throws -> Int {
        let begin = Instant.now
        do {
            return try await topic.forEach(chosen, of: snapshot) { letter, mark in
                let next = begin + .seconds(saturating: Double(sent) / rate)
                await readOutcomes(until: next)
                try await Task.sleep(for: Instant.now.duration(to: next))

                var edited = values[mark].map { letter.with(value: $0) } ?? letter
                if let expiry { edited = edited.expiring(noEarlierThan: .now().adding(expiry)) }
                let position = try await send(edited, marking: mark)
                outcomes?.expect(position)
                sent += 1  // bounded: at most the number of chosen letters
                progress(self)
            }
        } catch {
            throw Failure(error, doing: "\(sent) of \(chosen.count) went back")
        }
    }

    /// Returns once the brokers have acknowledged both the record and its mark.
    /// - Returns: the record's new position in a request topic, which its outcome also contains.
    /// - Throws: `Failure` that names the topic.
    private func send(_ letter: DeadLetter, marking mark: RedriveMark) async throws -> SourcePosition {
        let position = try await send(
            ProducerRecord(
                topic: targets.topic(for: letter.source), key: letter.key, value: letter.value,
                headers: letter.originalHeaders))
        _ = try await send(
            ProducerRecord(
                topic: deadLetters, partition: mark.partition, key: nil, value: nil,
                headers: mark.headers))
        return position
    }

    private func send(_ record: ProducerRecord) async throws -> SourcePosition {
        do {
            let position = try await producer.send(record)
            return SourcePosition(topic: record.topic, partition: position.partition, offset: position.offset)
        } catch {
            throw Failure(error, doing: "\(record.topic) does not accept a record")
        }
    }

    /// Reads outcomes. If the brokers refuse, reading stops but sending continues.
    mutating func readOutcomes(until deadline: Instant) async {
        do {
            try await outcomes?.read(until: deadline)
        } catch {
            outcomesProblem = "\(error)"
            outcomes = nil
        }
    }
}
