import ArgumentParser
import WorkerRuntime

extension DeadLettersCommand {
    struct RedriveCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "redrive", abstract: "Sends dead letters back to the requests topic, once each.",
            discussion: """
                Key, value and headers are those that the requests topic held. What went back is noted in the \
                dead-letter topic, so that a second run, after an interruption or with another filter, sends only the \
                rest. A run that is killed between sending a record and noting it leaves one record that the next run \
                sends again. Run one redrive at a time: two that run side by side do not see each other's notes.

                --dry-run shows one line for each dead letter that would go back, the oldest first.
                """)

        @OptionGroup(title: "Filter") var filter: DeadLetterFilter
        @Flag(help: "Shows what would be sent, a line each, and sends nothing.") var dryRun = false
        @Option(help: "Sends at most so many records a second.") var rate: Double?
        @Option(help: "Sends at most so many, the oldest.") var limit: Int?
        @Option(help: "How long the broker may say nothing before the command fails.")
        var timeout = DurationArgument(.seconds(15))
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            if let rate, !(0.01...1_000_000).contains(rate) { throw ValidationError("--rate takes 0.01 to 1000000") }
            if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
        }

        func run() async throws {
            let (settings, log) = try await ToolSettings.load(options)
            let topic = try DeadLetterTopic(settings, patience: timeout.duration, log: log)

            // All marks are read before anything is sent: what went back in an earlier run must not go again.
            let snapshot = try await topic.snapshot(matching: filter.matches)
            let plan = RedrivePlan(snapshot.letters, limit: limit)

            if plan.withoutContent > 0 {
                Terminal.note("\(plan.withoutContent) cannot go back: \(topic.name) did not take their content")
            }
            if plan.outcomes > 0 {
                Terminal.note("\(plan.outcomes) stay where they are: they are results or errors of a worker")
            }
            if dryRun { return show(plan, requests: settings.topics.requests) }

            let redriver = try Redriver(settings, log: log)
            do {
                try await send(plan, of: snapshot, in: topic, by: redriver, requests: settings.topics.requests)
            } catch {
                await redriver.close()
                throw error
            }
            await redriver.close()
        }

        private func show(_ plan: RedrivePlan, requests: String) {
            for letter in plan.chosen { Terminal.line(DeadLetterText.brief(letter)) }
            Terminal.line("\(plan.chosen.count) dead letters would go back to \(requests)")
        }

        /// Sends what was chosen at the rate that was asked for, and says what came of it.
        private func send(
            _ plan: RedrivePlan, of snapshot: DeadLetterTopic.Snapshot, in topic: DeadLetterTopic,
            by redriver: Redriver, requests: String
        ) async throws {
            let (total, begin) = (plan.chosen.count, ContinuousClock.now)
            var sent = 0
            defer { Terminal.endProgress() }

            let deleted: Int
            do {
                deleted = try await topic.forEach(plan.chosen, of: snapshot) { letter, mark in
                    if let rate { try await Task.sleep(until: begin + .seconds(Double(sent) / rate)) }
                    try await redriver.send(letter, marking: mark)
                    sent += 1
                    Terminal.progress(DeadLetterText.bar(sent, of: total))
                }
            } catch {
                throw Failure(error, doing: "\(sent) of \(total) went back; run the command again for the rest")
            }

            Terminal.endProgress()
            if deleted > 0 { Terminal.note("\(deleted) were deleted from \(topic.name) before they could go back") }
            let earlier = plan.redrivenBefore > 0 ? "; \(plan.redrivenBefore) had gone before" : ""
            Terminal.line("\(sent) dead letters went back to \(requests)\(earlier)")
        }
    }
}
