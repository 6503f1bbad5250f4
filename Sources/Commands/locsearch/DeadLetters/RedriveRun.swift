import Basics
import EventContract
import EventLoop

/// One run that redrives chosen dead letters at a limited rate, and reads their outcomes meanwhile.
struct RedriveRun {
    /// The default rate, in letters a second. It is low because each letter may cost a provider call.
    static let defaultRate = 20.0

    let redriver: Redriver
    /// The rate in letters a second.
    let rate: Double
    /// The number of letters that were redriven.
    private(set) var sent = 0
    /// The outcomes so far; `nil` if they are not read.
    private(set) var outcomes: RedriveOutcomes?
    /// Why reading outcomes stopped.
    private(set) var outcomesProblem: String?

    init(_ redriver: Redriver, rate: Double, outcomes: RedriveOutcomes?) {
        self.redriver = redriver
        self.rate = rate
        self.outcomes = outcomes
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

                let edited = values[mark].map { letter.with(value: $0) } ?? letter
                let position = try await redriver.send(edited, marking: mark)
                outcomes?.expect(position)
                sent += 1  // bounded: at most the number of chosen letters
                progress(self)
            }
        } catch {
            throw Failure(error, doing: "\(sent) of \(chosen.count) went back")
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
