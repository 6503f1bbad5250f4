import ArgumentParser
import Kafka
import WorkerRuntime

struct OffsetsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offsets", abstract: "Shows and moves the offsets of the workers' group.",
        discussion: """
            A worker commits the offset up to which all requests are finished, and with it the done-set: the requests
            beyond it that are finished too. Kafka's own tools show only the offset.

              locsearch offsets show
              locsearch offsets show --json
              locsearch offsets reset --to 2h --dry-run
              locsearch offsets reset --to 2026-11-21T09:30:00Z
              locsearch offsets reset --to 1200 --partition 3 --yes
            """, subcommands: [ShowCommand.self, ResetCommand.self])
}

struct OffsetsOptions: ParsableArguments {
    @OptionGroup var group: GroupOptions
    @OptionGroup var tool: ToolOptions

    /// Runs `body` with the group's offsets.
    func run(_ body: (GroupOffsets) async throws -> Void) async throws {
        let (settings, log) = try await tool.load()
        let offsets = try GroupOffsets(
            settings, group: group.group, topic: group.topic, timeout: tool.timeout.duration, log: log)
        try await body(offsets)
    }
}

extension OffsetsCommand {
    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Shows committed, finished and open requests by partition.",
            discussion: """
                "lag" is the end of the log minus the committed offset, as in Kafka's tools. "done beyond" counts
                requests that workers have finished although an earlier request is open; "open" counts the remaining
                ones. All of them count offsets, some of which may hold no request (transaction markers, compacted
                records). Progress since the last commit is not included.

                The command joins no group and changes nothing, so it can run at any time, with or without workers.

                Exit codes: 0 shown; 1 no such topic, or not allowed; 69 no broker answers; 78 a wrong setting.
                """)

        @OptionGroup var offsets: OffsetsOptions
        @Flag(help: "Prints one JSON object per partition and line.") var json = false

        func run() async throws {
            try await offsets.run { offsets in
                let report = try await offsets.report()
                for line in json ? report.json : report.text { Terminal.line(line) }
            }
        }
    }

    struct ResetCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset", abstract: "Moves the offsets of a group that has no members.",
            discussion: """
                Shows the changes and asks for confirmation. Repeated requests may cost calls to a provider, and get a
                second outcome; skipped requests get none. An offset outside of the log is replaced by the nearest end
                of the log, and a partition without a record at or after the time is moved to its end. If
                topics.requests names several topics, --partition and an offset need --topic.

                The command refuses a group that has members. If the brokers cannot describe the group, as the embedded
                broker cannot, stop its workers and use --force.

                Exit codes: 0 moved, or shown with --dry-run; 1 refused, or not confirmed; 64 wrong usage; 69 no broker
                answers; 78 a wrong setting.
                """)

        @Option(
            name: .customLong("to"),
            help: "earliest, latest, an offset, a time such as 2026-11-21T09:30:00Z, or a time ago such as 2h.",
            transform: OffsetTarget.read)
        var target: OffsetTarget
        @Option(help: "Only this partition. May repeat.") var partition: [Int32] = []
        @Flag(help: "Shows what would change, and changes nothing.") var dryRun = false
        @Flag(name: .shortAndLong, help: "Does not ask for confirmation.") var yes = false
        @Flag(help: "Continues if it cannot be checked whether the group has members.") var force = false
        @OptionGroup var offsets: OffsetsOptions

        func validate() throws {
            if let wrong = partition.first(where: { $0 < 0 }) {
                throw ValidationError("--partition \(wrong): takes 0 or more")
            }
            if case .offset = target, Set(partition).count > 1 { throw Self.needsOnePartition }
        }

        func run() async throws {
            try await offsets.run { offsets in
                let report = try await offsets.report()
                let plan = try await plan(for: report, offsets)
                if !dryRun { try requireNoMembers(report.presence, of: offsets.group) }
                show(plan, report)

                guard !dryRun else { return noteRefusal(report) }
                guard !plan.commits.isEmpty else { return Terminal.line("nothing to change") }
                try confirm(plan, offsets.group)

                // Workers may have started while the user read the question.
                let presence = await offsets.presence(hasCommits: report.partitions.contains { $0.commit != nil })
                try requireNoMembers(presence, of: offsets.group)
                try await offsets.apply(plan)
                let count = plan.commits.count
                Terminal.line(
                    TerminalText.safe(
                        "moved the offsets of the group \(offsets.group) in \(count) of \(report.partitions.count) partitions"
                    ))
            }
        }

        // MARK: - Planning the change

        private static let needsOnePartition = ValidationError(
            "an offset applies to one partition only: give one --partition with it")

        private func plan(for report: OffsetsReport, _ offsets: GroupOffsets) async throws -> ResetPlan {
            if !partition.isEmpty, report.topics.count > 1 {
                throw ValidationError("--partition needs --topic, because topics.requests names \(report.topics.count)")
            }
            for count in report.topics.map({ report.partitions(of: $0).count }) where !partition.isEmpty {
                guard let wrong = partition.first(where: { Int($0) >= count }) else { continue }
                // bounded: a count
                throw ValidationError("--partition \(wrong): \(report.names) has the partitions 0 to \(count - 1)")
            }
            let chosen = report.partitions.filter { partition.isEmpty || partition.contains($0.id.partition) }
            if case .offset = target, chosen.count > 1 { throw Self.needsOnePartition }

            let targets = try await offsets.targets(target, of: chosen)
            return ResetPlan(chosen, targets: targets)
        }

        private func show(_ plan: ResetPlan, _ report: OffsetsReport) {
            if report.partitions.allSatisfy({ $0.commit == nil }) {
                Terminal.note(
                    TerminalText.safe(
                        "the group \(report.group) has committed nothing on \(report.names): is the name right?"))
            }
            for line in plan.text { Terminal.line(line) }
            Terminal.line(plan.summary)
        }

        private func requireNoMembers(_ presence: GroupPresence, of group: String) throws(Failure) {
            guard let reason = presence.refusal(of: group, isForced: force) else { return }
            throw Failure(TerminalText.safe("nothing was changed: \(reason)"))
        }

        /// For a dry run, prints the reason for which the change itself would be refused.
        private func noteRefusal(_ report: OffsetsReport) {
            guard let reason = report.presence.refusal(of: report.group, isForced: force) else { return }
            Terminal.note(TerminalText.safe("the change would now be refused: \(reason)"))
        }

        private func confirm(_ plan: ResetPlan, _ group: String) throws(Failure) {
            if yes { return }
            guard Terminal.inputIsTerminal else {
                throw Failure("nothing was changed: give --yes when there is no terminal")
            }

            guard Terminal.confirms(TerminalText.safe("\(plan.summary). Move the offsets of the group \(group)?"))
            else {
                throw Failure("nothing was changed")
            }
        }
    }
}
