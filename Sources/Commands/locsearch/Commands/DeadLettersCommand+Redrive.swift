import ArgumentParser
import EventContract
import Logging
import WorkerRuntime

extension DeadLettersCommand {
    struct RedriveCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "redrive", abstract: "Sends dead letters back to their requests topic, once each.",
            discussion: """
                Sends each record with its original key, value and headers to the topic that it came from, and marks it \
                as sent in the dead-letter topic, so that a second run sends only the rest. A run that is killed may \
                have sent one record without its mark. Run one redrive at a time.

                Each dead letter that is now a valid request may cost a call to a provider, so the command asks for \
                confirmation at a terminal. Afterwards it reports how many requests have a result, how many failed \
                again, and why. Records that are still invalid would become dead letters again, unless --skip-faulty \
                leaves them or --edit corrects them (VISUAL, EDITOR). Records that have crashed worker processes \
                (reason crashed-workers) are sent only with --force.

                A record keeps its expiry (ce_expirytime), and ends as expired once that has passed. --expiry 5m sets a \
                new one, 5 minutes after the record is sent, unless the record has none or a later one. Records that \
                failed again are sent once more by --again, which sends the records that went back earlier instead of \
                the others: choose them with the filters, as records with a result are sent again, too.

                Exit codes: 0 all chosen records were sent, and none is known to have failed again; 1 some failed \
                again, or were not sent after --edit; 64 wrong usage; 69 no broker responds; 78 a wrong setting.
                """)

        @OptionGroup(title: "Filter") var filter: DeadLetterFilter
        @Flag(help: "Prints the records that would be sent, one line each, and sends nothing.") var dryRun = false
        @Flag(name: .shortAndLong, help: "Sends without asking for confirmation.") var yes = false
        @Flag(help: "Opens each record in an editor before it is sent.") var edit = false
        @Flag(help: "Does not send records that are still invalid.") var skipFaulty = false
        @Flag(help: "Also sends records that have crashed worker processes.") var force = false
        @Flag(help: "Sends the records that went back earlier, instead of the others.") var again = false
        @Option(
            help: "Sets a new expiry for records with one, this long after they are sent.",
            transform: DurationArgument.read)
        var expiry: DurationArgument?
        @Option(help: "Maximum number of records sent per second.") var rate = RedriveRun.defaultRate
        @Option(help: "Sends at most this many, the oldest.") var limit: Int?
        @Option(
            help: "How long to wait for outcomes after the last record; 0s: reads no outcomes.",
            transform: DurationArgument.read)
        var wait = DurationArgument(.seconds(5))
        @OptionGroup var tool: ToolOptions

        func validate() throws {
            if !(0.01...1_000_000).contains(rate) { throw ValidationError("--rate takes 0.01 to 1000000") }
            try requirePositive(limit, "--limit")
            if let expiry, expiry.duration <= .zero { throw ValidationError("--expiry takes a time above 0s") }
            if edit, dryRun || skipFaulty {
                throw ValidationError("--edit and \(dryRun ? "--dry-run" : "--skip-faulty") exclude each other")
            }
        }

        func run() async throws {
            let (settings, log) = try await tool.load()
            let topic = try DeadLetterTopic(settings, timeout: tool.timeout.duration, log: log)
            // All marks are read before anything is sent: a letter sent back by an earlier run must not be sent again.
            let snapshot = try await topic.snapshot(matching: filter.matches)
            let letters = again ? snapshot.letters.filter(\.isRedriven).map(\.unmarked) : snapshot.letters
            let plan = RedrivePlan(letters, limit: limit, isForced: force, skipsFaulty: skipFaulty)
            printNotes(on: plan, of: topic)
            printExpiry(of: plan, answerTime: settings.duration("worker.deadline") ?? .zero)

            let targets = RedriveTargets(settings.topics)
            if dryRun { return printDryRun(of: plan, requests: targets.topics(for: plan.chosen)) }

            let editing = edit ? try await edited(plan, of: snapshot, in: topic, judge: RequestJudge(settings)) : nil
            let chosen = plan.chosen.filter { editing?.values[$0.mark] != nil || editing == nil }
            let requests = targets.topics(for: chosen)
            guard isConfirmed(chosen.count, requests: requests) else { return Terminal.note("nothing was sent") }

            let outcomes = await outcomes(of: chosen.count, settings: settings, log: log)
            var run = try RedriveRun(settings, rate: rate, outcomes: outcomes, log: log)
            run.expiry = expiry?.duration
            let result = await Result.catching {
                try await send(chosen, of: snapshot, in: topic, by: &run, values: editing?.values ?? [:])
                printResult(of: run, plan, requests: requests)
                return try await failureCount(of: &run)
            }
            await run.close()

            let skipped = editing?.skipped ?? 0
            let failures = try result.get()
            if skipped > 0 { Terminal.note("\(skipped) were not sent") }
            if failures > 0 || skipped > 0 { throw ExitCode(1) }
        }

        private func printNotes(on plan: RedrivePlan, of topic: DeadLetterTopic) {
            plan.notes(on: topic.name).forEach(Terminal.note)
            guard !edit, let first = plan.faulty.first else { return }
            let count = "\(plan.faulty.count) of \(plan.chosen.count)"
            Terminal.note(
                TerminalText.safe(
                    "\(count) are still invalid and would become dead letters again; the first because: \(first.fault ?? "")"
                ))
        }

        private func printExpiry(of plan: RedrivePlan, answerTime: Duration) {
            let count = plan.expiring(rate: rate, answerTime: expiry?.duration ?? answerTime)
            guard count > 0 else { return }
            Terminal.note(
                expiry.map { "\(count) of \(plan.chosen.count) get a new expiry, \($0) after they are sent" }
                    ?? "\(count) of \(plan.chosen.count) have expired or expire before they can be answered, and would end as expired: --expiry 5m sets a new expiry"
            )
        }

        private func printDryRun(of plan: RedrivePlan, requests: String) {
            for letter in plan.chosen { Terminal.line(DeadLetterText.brief(letter)) }
            Terminal.line("\(plan.chosen.count.counted("dead letter")) would go back to \(requests)")
        }

        /// Opens the values of the chosen letters in an editor, so that the user can correct them.
        private func edited(
            _ plan: RedrivePlan, of snapshot: DeadLetterTopic.Snapshot, in topic: DeadLetterTopic, judge: RequestJudge
        ) async throws -> LetterEditing {
            guard plan.chosen.count <= LetterEditing.mostLetters else {
                throw ValidationError(
                    "\(plan.chosen.count) letters are too many to edit: give --limit, or a narrower filter")
            }

            var letters: [(RedriveMark, DeadLetter)] = []
            try await topic.forEach(plan.chosen, of: snapshot) { letter, mark in letters.append((mark, letter)) }
            var editing = LetterEditing(judge)
            for (mark, letter) in letters { try await editing.edit(letter, at: mark) }
            return editing
        }

        /// Shows how many letters will be sent and how fast, and asks for confirmation at a terminal. Returns true if
        /// standard input is not a terminal.
        private func isConfirmed(_ count: Int, requests: String) -> Bool {
            guard count > 0 else { return true }

            let seconds = Duration.seconds(saturating: (Double(count) / rate).rounded(.up))
            let time = count > 1 ? ", which takes about \(seconds.readable)" : ""
            let perSecond = OutcomeText.decimal(rate, places: rate == rate.rounded() ? 0 : 2)
            let letters = "\(count.counted("dead letter")) \(count == 1 ? "goes" : "go")"
            let plan = "\(letters) back to \(requests), at most \(perSecond) per second\(time)"
            guard Terminal.inputIsTerminal, !yes else {
                Terminal.note(plan)
                return true
            }
            return Terminal.confirms("\(plan).\nEach may cost a call to a provider. Send them?")
        }

        /// Returns the reader of the outcomes; `nil` if the user did not ask for outcomes or they cannot be read. For
        /// example, this user may not be allowed to read the outcome topics.
        private func outcomes(of count: Int, settings: Settings, log: Logger) async -> RedriveOutcomes? {
            guard wait.duration > .zero, count > 0 else { return nil }
            do {
                let timeout = min(tool.timeout.duration, .seconds(5))
                return try await RedriveOutcomes(settings, within: timeout, log: log)
            } catch {
                Terminal.note("outcomes cannot be read: \(error)")
                return nil
            }
        }

        // MARK: - Sending

        /// - Parameter values: the edited values; all other letters are sent unchanged.
        private func send(
            _ chosen: [DeadLetterSummary], of snapshot: DeadLetterTopic.Snapshot, in topic: DeadLetterTopic,
            by run: inout RedriveRun, values: [RedriveMark: [UInt8]]
        ) async throws {
            var lastLine = Instant.now
            defer { Terminal.endProgress() }
            do {
                let deleted = try await run.send(chosen, of: snapshot, in: topic, values: values) { run in
                    let progress = "\(run.sent) of \(chosen.count) went back\(run.failureText)"
                    if Terminal.errorIsTerminal { return Terminal.progress(progress) }
                    guard run.sent < chosen.count, Instant.now - lastLine >= .seconds(5) else { return }
                    lastLine = .now
                    Terminal.note(progress)
                }
                Terminal.endProgress()
                if deleted > 0 { Terminal.note("\(deleted) were deleted from \(topic.name) before they could be sent") }
            } catch let error as Failure {
                let rest = again ? "with --again, the next run sends all of them" : "run the command again for the rest"
                throw Failure("\(error); \(rest)", code: error.code)
            }
        }

        private func printResult(of run: RedriveRun, _ plan: RedrivePlan, requests: String) {
            let earlier = plan.redrivenBefore > 0 ? "; \(plan.redrivenBefore.grouped) were sent earlier" : ""
            Terminal.line("\(run.sent.counted("dead letter")) went back to \(requests)\(earlier)")
        }

        /// Waits for the outcomes, and prints their counts.
        /// - Returns: the number of letters whose requests are known to have failed again.
        private func failureCount(of run: inout RedriveRun) async throws -> Int {
            await run.readOutcomes(until: .now + wait.duration)
            if let problem = run.outcomesProblem { Terminal.note("outcomes are no longer read: \(problem)") }
            guard run.sent > 0, let outcomes = run.outcomes else { return 0 }
            Terminal.line(outcomes.summary(of: run.sent, waited: wait.duration))
            if outcomes.failedCount == run.sent {
                Terminal.note("all of them failed again: `locsearch watch --errors --from-beginning` shows why")
            }
            return outcomes.failedCount
        }
    }
}

extension RedriveRun {
    /// The number of letters whose requests failed again; empty if there is none.
    fileprivate var failureText: String {
        guard let outcomes, outcomes.failedCount > 0 else { return "" }
        return ", \(outcomes.failedCount) failed again (\(outcomes.codes))"
    }
}
