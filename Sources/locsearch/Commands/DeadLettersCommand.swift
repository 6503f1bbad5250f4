import ArgumentParser
import EventContract
import EventLoop
import JSON
import Kafka
import Logging
import WorkerRuntime

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters", abstract: "Shows the records that were no requests, and sends them back.",
        discussion: """
            Every record that cannot be read as a request ends as an error event, and its untouched bytes go to the \
            dead-letter topic. Once what was wrong is mended - in the worker, say - they can go back.

              locsearch dead-letters list --reason invalid-request
              locsearch dead-letters redrive --dry-run
              locsearch dead-letters redrive --since 2026-11-21T09:00:00Z --rate 50
            """, subcommands: [ListCommand.self, RedriveCommand.self])
}

extension DeadLettersCommand {
    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Shows reason, source, time and the head of each dead letter.")

        @OptionGroup(title: "Filter") var filter: DeadLetterFilter
        @Flag(help: "Leaves out those that went back already.") var pending = false
        @Option(help: "Shows at most so many.") var limit: Int?
        @Flag(help: "One dead letter a line, as JSON.") var json = false
        @Option(help: "How long to wait for the broker at the start.") var timeout = DurationArgument(.seconds(15))
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
        }

        func run() async throws {
            let (settings, log) = try await ToolSettings.load(options)
            let topic = try DeadLetterTopic(settings, within: timeout.duration, log: log)
            var shown = 0
            try await topic.forEach(filter) { entry in
                if pending, entry.isRedriven { return true }
                shown += 1
                Terminal.line(json ? DeadLetterText.json(entry) : DeadLetterText.line(entry))
                return limit.map { shown < $0 } ?? true
            }
            if !json, shown == 0 { Terminal.note("no dead letters in \(settings.topics.deadLetters) that match") }
        }
    }

    struct RedriveCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "redrive", abstract: "Sends dead letters back to the requests topic, once each.",
            discussion: """
                Key, value and headers are those that the requests topic held. What went back is noted in the \
                dead-letter topic, so that a second run, after an interruption or with another filter, sends only the \
                rest. A crash between sending and noting may send one record twice.
                """)

        @OptionGroup(title: "Filter") var filter: DeadLetterFilter
        @Flag(help: "Says what would be sent, and sends nothing.") var dryRun = false
        @Option(help: "Sends at most so many records a second.") var rate: Double?
        @Option(help: "Sends at most so many.") var limit: Int?
        @Option(help: "How long to wait for the broker at the start.") var timeout = DurationArgument(.seconds(15))
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            if let rate, !(0.01...1_000_000).contains(rate) { throw ValidationError("--rate takes 0.01 to 1000000") }
            if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
        }

        func run() async throws {
            let (settings, log) = try await ToolSettings.load(options)
            let topic = try DeadLetterTopic(settings, within: timeout.duration, log: log)
            var (total, before, empty) = (0, 0, 0)
            try await topic.forEach(filter) { entry in
                if entry.isRedriven {
                    before += 1
                } else if entry.letter.isWithoutContent {
                    empty += 1
                } else {
                    total += 1
                }
                return true
            }
            if empty > 0 {
                Terminal.note(
                    "\(empty) cannot go back: too large for \(settings.topics.deadLetters), which has no content")
            }
            total = min(total, limit ?? .max)
            if dryRun {
                Terminal.line("\(total) dead letters would go back to \(settings.topics.requests)")
                return
            }
            let redriver = try Redriver(settings, log: log)
            var sent = 0
            let start = ContinuousClock.now
            do {
                try await topic.forEach(filter) { entry in
                    guard sent < total else { return false }
                    if entry.isRedriven || entry.letter.isWithoutContent { return true }
                    if let rate { try await Task.sleep(until: start + .seconds(Double(sent) / rate)) }
                    try await redriver.send(entry)
                    sent += 1
                    Terminal.progress(DeadLetterText.bar(sent, of: total))
                    return true
                }
            } catch {
                Terminal.endProgress()
                await redriver.close()
                Terminal.note("\(sent) of \(total) went back; run the command again for the rest")
                throw error
            }
            Terminal.endProgress()
            await redriver.close()
            let earlier = before > 0 ? "; \(before) had gone before" : ""
            Terminal.line("\(sent) dead letters went back to \(settings.topics.requests)\(earlier)")
        }
    }
}
