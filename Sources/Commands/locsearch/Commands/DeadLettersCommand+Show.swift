import ArgumentParser
import EventContract

extension DeadLettersCommand {
    struct GroupsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "groups", abstract: "Counts dead letters by reason, member and producer.",
            discussion: """
                The producer is the source of the CloudEvent (ce_source). "still invalid" counts records that this
                version would still reject: edit them (redrive --edit), or have their producer send them again. "only
                with --force" counts records that have crashed worker processes: redrive sends them only with --force.
                """)

        @OptionGroup(title: "Filter") var filter: DeadLetterFilter
        @Flag(help: "Prints one JSON object per group and line.") var json = false
        @Option(help: "Fails after this time without a response from the broker.", transform: DurationArgument.read)
        var timeout = DurationArgument(.seconds(15))
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func run() async throws {
            let (settings, log) = try await ToolSettings.load(options)
            let topic = try DeadLetterTopic(settings, timeout: timeout.duration, judges: true, log: log)

            let groups = DeadLetterGroups(try await topic.snapshot(matching: filter.matches).letters)
            if json {
                for line in groups.json { Terminal.line(line) }
            } else if groups.counts.isEmpty {
                Terminal.note("no matching dead letters in \(topic.name)")
            } else {
                for line in groups.text { Terminal.line(line) }
            }
        }
    }

    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Shows complete dead letters: fault, key, headers and value.",
            discussion: """
                  locsearch dead-letters show --partition 3 --from-offset 1200 --limit 1
                  locsearch dead-letters show --reason invalid-request --json

                The line "now" shows how a worker would handle the record today.
                """)

        @OptionGroup(title: "Filter") var filter: DeadLetterFilter
        @Option(help: "Shows at most this many, the oldest.") var limit = 10
        @Flag(help: "Prints one JSON object per dead letter and line.") var json = false
        @Option(help: "Fails after this time without a response from the broker.", transform: DurationArgument.read)
        var timeout = DurationArgument(.seconds(15))
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            if limit < 1 { throw ValidationError("--limit takes 1 or more") }
        }

        func run() async throws {
            let (settings, log) = try await ToolSettings.load(options)
            let topic = try DeadLetterTopic(settings, timeout: timeout.duration, judges: true, log: log)

            let snapshot = try await topic.snapshot(matching: filter.matches)
            let chosen = Array(snapshot.letters.prefix(limit))
            var found: [RedriveMark: DeadLetter] = [:]
            try await topic.forEach(chosen, of: snapshot) { letter, mark in found[mark] = letter }

            for summary in chosen {
                guard let letter = found[summary.mark] else { continue }
                let whole = WholeLetter(letter: letter, summary: summary)
                if json { Terminal.line(whole.json) } else { for line in whole.text { Terminal.line(line) } }
            }
            let rest = snapshot.letters.count - chosen.count
            if rest > 0 { Terminal.note("\(rest) more match: give --limit, or a narrower filter") }
            if snapshot.letters.isEmpty { Terminal.note("no matching dead letters in \(topic.name)") }
        }
    }
}
