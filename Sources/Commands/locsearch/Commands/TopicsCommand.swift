import ArgumentParser

struct TopicsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics", abstract: "Creates the topics that a worker needs, or checks those that exist.",
        discussion: """
              locsearch topics create --dry-run
              locsearch topics create --partitions 24 --retention results=6h
              locsearch topics create --print
            """, subcommands: [CreateCommand.self])
}

extension TopicsCommand {
    struct CreateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Creates missing topics, and reports how the others deviate.",
            discussion: """
                Shows the configuration and state of each topic, then creates missing topics. Existing topics are never
                changed or deleted: each deviation is one line on standard error.

                  locsearch topics create --dry-run
                  locsearch topics create --partitions 24 --retention results=6h --retention requests=72h
                  locsearch topics create --replication-factor 1     # on a single broker, for trials
                  locsearch topics create --print                    # commands of Kafka's own tools; contacts no broker

                With --add-partitions keys move to other partitions, so that the order of a key, and the replacement of
                a session's older search, are not guaranteed for unfinished requests.

                Exit codes: 0 all topics exist (or would, with --dry-run), with or without deviations; 1 a topic cannot
                be created, or --strict is given and a topic deviates or could not be checked; 69 no broker responds; 78
                a wrong setting, or too few brokers.
                """)

        @Flag(help: "Shows what would be done, and does nothing.") var dryRun = false
        @Flag(help: "Prints commands of Kafka's own tools that create the topics, and contacts no broker.") var print =
            false
        @Flag(help: "Exits with 1 if a topic deviates, cannot be checked or, with --dry-run, is missing.")
        var strict = false
        @Flag(help: "Adds partitions to topics that have fewer than recommended.") var addPartitions = false

        @Option(help: "Partitions of the topics of requests, results and errors.") var partitions = 12
        @Option(help: "Replicas of each partition.") var replicationFactor = 3
        @Option(help: "Retention of records: requests, results, errors or deadLetters, then =TIME. May repeat.")
        var retention: [String] = []
        @OptionGroup var tool: ToolOptions

        func validate() throws {
            guard (1...10_000).contains(partitions) else { throw ValidationError("--partitions takes 1 to 10000") }
            guard (1...9).contains(replicationFactor) else {
                throw ValidationError("--replication-factor takes 1 to 9")
            }
            if dryRun, print { throw ValidationError("--dry-run and --print exclude each other") }
            _ = try choices()
        }

        func run() async throws {
            let (settings, log) = try await tool.load()
            try settings.validate()
            let topics = RecommendedTopic.all(
                names: settings.topics, maxRequestBytes: settings.integer("worker.maxRequestBytes"),
                choices: try choices())

            if print {
                let servers = settings.text("kafka.bootstrapServers")
                for command in TopicTexts.shell(topics, bootstrapServers: servers) { Terminal.line(command) }
                return
            }

            let creation = try TopicCreation(settings, topics: topics, timeout: tool.timeout.duration, log: log)
            let findings = try await creation.findings()
            show(findings)

            if !dryRun {
                try await creation.makeMissing(of: findings, addingPartitions: addPartitions) { Terminal.line($0) }
            }
            if strict { try refuseDeviations(findings) }
        }

        private func choices() throws -> RecommendedTopic.Choices {
            var choices = RecommendedTopic.Choices()
            choices.partitions = partitions
            choices.replicationFactor = replicationFactor

            for entry in retention {
                let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2, let role = RecommendedTopic.Role(rawValue: parts[0]),
                    let time = Duration(text: parts[1]), time >= .seconds(60)
                else {
                    let roles = RecommendedTopic.Role.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("--retention \(entry): takes one of \(roles), then = and a time from 1m")
                }
                choices.retentions[role] = time
            }
            return choices
        }

        // MARK: - Output

        private func show(_ findings: [TopicCreation.Finding]) {
            // Two settings may name the same topic.
            let states = Dictionary(
                findings.map { ($0.topic.name, state(of: $0)) }, uniquingKeysWith: { first, _ in first })
            for line in TopicTexts.table(findings, states: states) { Terminal.line(line) }

            for deviation in findings.flatMap(\.deviations) { Terminal.note(TerminalText.safe("\(deviation)")) }
            for finding in findings where !finding.untold.isEmpty {
                let names = finding.untold.joined(separator: ", ")
                Terminal.note(
                    TerminalText.safe("\(finding.topic.name): not checked: \(names): the brokers do not report it"))
            }
            // The reason is usually the same for all topics, so only the first one is shown.
            let unread = findings.filter { $0.unread != nil }
            if let reason = unread.first?.unread {
                let names = unread.map(\.topic.name).joined(separator: ", ")
                Terminal.note(TerminalText.safe("not checked: the configuration of \(names): \(reason)"))
            }
        }

        private func state(of finding: TopicCreation.Finding) -> String {
            switch finding.state {
            case .missing: dryRun ? "would be created" : "to be created"
            case .asRecommended: finding.unread == nil ? "as recommended" : "not checked"
            case .deviating: "deviates"
            }
        }

        private func refuseDeviations(_ findings: [TopicCreation.Finding]) throws(Failure) {
            let deviating = findings.filter { $0.state == .deviating || (dryRun && $0.state == .missing) }
            let unread = findings.filter { $0.unread != nil && $0.state == .asRecommended }
            let reasons = [("not as recommended", deviating), ("not checked", unread)].filter { !$0.1.isEmpty }.map {
                "\($0.0): " + $0.1.map(\.topic.name).joined(separator: ", ")
            }
            if !reasons.isEmpty { throw Failure(reasons.joined(separator: "; ")) }
        }
    }
}
