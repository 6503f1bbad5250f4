import Basics
import EventContract
import EventLoop

/// One run that sends chosen dead letters back to the topics of requests at a rate, and looks for their outcomes meanwhile.
struct RedriveRun {
    /// Letters a second, unless somebody asks for another rate. Each may cost a call to a provider.
    static let defaultRate = 20.0

    let redriver: Redriver
    /// Letters a second.
    let rate: Double
    /// The number of letters that went back.
    private(set) var sent = 0
    /// What is known of their outcomes; `nil` where they are not looked for.
    private(set) var outcomes: RedriveOutcomes?
    /// Why outcomes are no longer looked for.
    private(set) var outcomesProblem: String?

    init(_ redriver: Redriver, rate: Double, outcomes: RedriveOutcomes?) {
        self.redriver = redriver
        self.rate = rate
        self.outcomes = outcomes
    }

    /// Sends one letter after another.
    /// - Parameter values: those that were put right; the others go back as they are.
    /// - Parameter progress: called after each letter.
    /// - Returns: the number of letters that the topic has deleted before they could go back.
    /// - Throws: `Failure` that says how many went back.
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
                sent += 1  // bounded: at most all that were chosen
                progress(self)
            }
        } catch {
            throw Failure(error, doing: "\(sent) of \(chosen.count) went back")
        }
    }

    /// Looks for outcomes; gives that up, and not the sending, when the brokers refuse.
    mutating func readOutcomes(until deadline: Instant) async {
        do {
            try await outcomes?.read(until: deadline)
        } catch {
            outcomesProblem = "\(error)"
            outcomes = nil
        }
    }
}
