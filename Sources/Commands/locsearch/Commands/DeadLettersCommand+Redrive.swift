import ArgumentParser
import Basics
import EventContract
import Logging
import WorkerRuntime

extension DeadLettersCommand {
    struct RedriveCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "redrive", abstract: "Sends dead letters back to their requests topic, once each.",
            discussion: """
                Sends each record with its original key, value and headers, and marks it as sent in the dead-letter \
                topic, so that a second run, after an interruption or with another filter, sends only the rest. If a \
                run is killed between sending a record and marking it, the next run sends that record again. If \
                topics.requests names several topics, each record goes to the topic that it came from, or to the first \
                one if its topic is not listed any more. Run one redrive at a time: two that run at once do not see \
                each other's marks.

                --dry-run prints one line for each dead letter that would be sent back, oldest first.

                Each dead letter that is now a valid request may cost a call to a provider. At a terminal, the command \
                therefore prints their number and asks for confirmation, unless --yes is given; elsewhere it starts at \
                once. It sends 20 records per second by default (--rate). While it sends, and for --wait after the \
                last record, it reads the outcomes, and finally reports how many requests have a result, how many \
                failed again, and why.

                Records that are still invalid would become dead letters again; the command prints their number, and \
                the reason of the first. --skip-faulty does not send them. --edit opens the value of each record in an \
                editor (VISUAL, EDITOR), and sends only records that are valid afterwards.

                Records that have crashed worker processes (reason crashed-workers) are not sent, because they would \
                crash workers again. After the cause is fixed, --force sends them too.

                Exit codes: 0 all chosen records were sent, and none is known to have failed again; 1 some failed \
                again, or were not sent after --edit; 64 wrong usage; 69 no broker responds; 78 a wrong setting.
                """)

        @OptionGroup(title: "Filter") var filter: DeadLetterFilter
        @Flag(help: "Prints the records that would be sent, one line each, and sends nothing.") var dryRun = false
        @Flag(name: .shortAndLong, help: "Sends without asking for confirmation.") var yes = false
        @Flag(help: "Opens each record in an editor before it is sent.") var edit = false
        @Flag(help: "Does not send records that are still invalid.") var skipFaulty = false
        @Flag(help: "Also sends records that have crashed worker processes.") var force = false
        @Option(help: "Maximum number of records sent per second.") var rate = RedriveRun.defaultRate
        @Option(help: "Sends at most this many, the oldest.") var limit: Int?
        @Option(
            help: "How long to wait for outcomes after the last record; 0s: reads no outcomes.",
            transform: DurationArgument.read)
        var wait = DurationArgument(.seconds(5))
        @Option(help: "Fails after this time without a response from the broker.", transform: DurationArgument.read)
        var timeout = DurationArgument(.seconds(15))
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            if !(0.01...1_000_000).contains(rate) { throw ValidationError("--rate takes 0.01 to 1000000") }
            if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
            if edit, dryRun || skipFaulty {
                throw ValidationError("--edit and \(dryRun ? "--dry-run" : "--skip-faulty") exclude each other")
            }
        }

        func run() async throws {
            let (settings, log) = try await ToolSettings.load(options)
            let topic = try DeadLetterTopic(settings, timeout: timeout.duration, judges: true, log: log)

            // All marks are read before anything is sent: a letter sent back by an earlier run must not be sent again.
            let snapshot = try await topic.snapshot(matching: filter.matches)
            let plan = RedrivePlan(snapshot.letters, limit: limit, isForced: force, skipsFaulty: skipFaulty)

            if plan.withoutContent > 0 {
                Terminal.note("\(plan.withoutContent) cannot go back: \(topic.name) does not hold their content")
            }
            if plan.outcomes > 0 {
                Terminal.note("\(plan.outcomes) are not sent: they are results or errors of a worker")
            }
            if plan.crashing > 0 {
                Terminal.note(
                    "\(plan.crashing) are not sent: they have crashed worker processes; --force sends them too"
                )
            }
            if !edit, let first = plan.faulty.first {
                Terminal.note(
                    TerminalText.safe(
                        "\(plan.faulty.count) of \(plan.chosen.count) are still invalid and would become dead letters again; the"
                            + " first because: \(first.fault ?? "")"))
            }
            let targets = RedriveTargets(settings.topics)
            if dryRun { return show(plan, requests: targets.words(for: plan.chosen)) }

            let editing = edit ? try await edited(plan, of: snapshot, in: topic, judge: RequestJudge(settings)) : nil
            let chosen = plan.chosen.filter { editing?.values[$0.mark] != nil || editing == nil }
            guard try isConfirmed(chosen.count, requests: targets.words(for: chosen)) else {
                Terminal.note("nothing was sent")
                return
            }

            let outcomes = await outcomes(of: chosen.count, settings: settings, log: log)
            let redriver = try Redriver(settings, log: log)
            let failed: Int
            do {
                failed = try await send(
                    chosen, of: snapshot, in: topic, by: redriver, watching: outcomes,
                    requests: (targets.words(for: chosen), plan.redrivenBefore), values: editing?.values ?? [:])
            } catch {
                await redriver.close()
                throw error
            }
            await redriver.close()

            if let left = editing?.left, left > 0 { Terminal.note("\(left) were not sent") }
            if failed > 0 || (editing?.left ?? 0) > 0 { throw ExitCode(1) }
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
        private func isConfirmed(_ count: Int, requests: String) throws -> Bool {
            guard count > 0 else { return true }

            let time =
                count > 1
                ? ", which takes about \(Duration.seconds(saturating: (Double(count) / rate).rounded(.up)).readable)"
                : ""
            let what =
                "\(count.counted("dead letter")) \(count == 1 ? "goes" : "go") back to \(requests), at most \(text(of: rate)) per second\(time)"
            guard Terminal.inputIsTerminal, !yes else {
                Terminal.note(what)
                return true
            }
            return Terminal.confirms("\(what).\nEach may cost a call to a provider. Send them?")
        }

        private func text(of rate: Double) -> String {
            rate == rate.rounded() ? OutcomeText.decimal(rate, places: 0) : OutcomeText.decimal(rate, places: 2)
        }

        /// Returns the reader of the outcomes; `nil` if the user did not ask for outcomes or they cannot be read. For
        /// example, this user may not be allowed to read the outcome topics.
        private func outcomes(of count: Int, settings: Settings, log: Logger) async -> RedriveOutcomes? {
            guard wait.duration > .zero, count > 0 else { return nil }
            do {
                return try await RedriveOutcomes(settings, within: min(timeout.duration, .seconds(5)), log: log)
            } catch {
                Terminal.note("outcomes cannot be read: \(error)")
                return nil
            }
        }

        private func show(_ plan: RedrivePlan, requests: String) {
            for letter in plan.chosen { Terminal.line(DeadLetterText.brief(letter)) }
            Terminal.line("\(plan.chosen.count.counted("dead letter")) would go back to \(requests)")
        }

        /// Sends the chosen letters at the chosen rate, and prints the result.
        /// - Parameter values: the edited values; all other letters are sent unchanged.
        /// - Returns: the number of letters whose requests are known to have failed again.
        private func send(
            _ chosen: [DeadLetterSummary], of snapshot: DeadLetterTopic.Snapshot, in topic: DeadLetterTopic,
            by redriver: Redriver, watching: RedriveOutcomes?, requests: (name: String, redrivenBefore: Int),
            values: [RedriveMark: [UInt8]]
        ) async throws -> Int {
            var run = RedriveRun(redriver, rate: rate, outcomes: watching)
            var progress = RedriveProgress(of: chosen.count)
            defer { Terminal.endProgress() }

            let deleted: Int
            do {
                deleted = try await run.send(chosen, of: snapshot, in: topic, values: values) { progress.show($0) }
            } catch let error as Failure {
                throw Failure("\(error); run the command again for the rest", code: error.code)
            }

            Terminal.endProgress()
            if deleted > 0 { Terminal.note("\(deleted) were deleted from \(topic.name) before they could be sent") }
            let earlier = requests.redrivenBefore > 0 ? "; \(requests.redrivenBefore.grouped) were sent earlier" : ""
            Terminal.line("\(run.sent.counted("dead letter")) went back to \(requests.name)\(earlier)")

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

/// Shows the progress of a redrive: a bar at a terminal, otherwise an occasional line.
private struct RedriveProgress {
    private static let interval = Duration.seconds(5)

    private let total: Int
    private var lastLine = Instant.now

    init(of total: Int) { self.total = total }

    mutating func show(_ run: RedriveRun) {
        let sent = run.sent
        let failed =
            run.outcomes.map { $0.failedCount > 0 ? ", \($0.failedCount) failed again (\($0.codes))" : "" } ?? ""
        guard !Terminal.errorIsTerminal else {
            return Terminal.progress(DeadLetterText.bar(sent, of: total) + failed)
        }

        guard sent < total, Instant.now - lastLine >= Self.interval else { return }
        lastLine = .now
        Terminal.note("\(sent) of \(total) went back\(failed)")
    }
}
