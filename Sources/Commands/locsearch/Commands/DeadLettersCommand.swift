import ArgumentParser
import EventContract

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters", abstract: "Shows records that were not valid requests, and sends them back.",
        discussion: """
            Each record that cannot be read as a request ends as an error event, and its unchanged bytes are written \
            to the dead-letter topic. After the cause is fixed, for example in the worker, it can be sent back.

              locsearch dead-letters groups
              locsearch dead-letters list --reason invalid-request
              locsearch dead-letters show --partition 3 --from-offset 1200 --limit 1
              locsearch dead-letters redrive --dry-run
              locsearch dead-letters redrive --since 2026-11-21T09:00:00Z --rate 50
              locsearch dead-letters redrive --edit --limit 1

            These commands read the whole topic, up to its end at their start. If the brokers do not return all of it,
            they show and send nothing: exit code 69.
            """, subcommands: [GroupsCommand.self, ListCommand.self, ShowCommand.self, RedriveCommand.self])
}

extension DeadLettersCommand {
    struct GroupsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "groups", abstract: "Counts dead letters by reason, member and producer.",
            discussion: """
                The producer is the source of the CloudEvent (ce_source). "still invalid" counts records that this
                version would still reject: edit them (redrive --edit), or have their producer send them again. "only
                with --force" counts records that have crashed worker processes: redrive sends them only with --force.
                """)

        @OptionGroup var letters: DeadLetterOptions
        @Flag(help: "Prints one JSON object per group and line.") var json = false

        func run() async throws {
            let groups = DeadLetterGroups(try await letters.read().snapshot.letters)
            for line in json ? groups.json : groups.text { Terminal.line(line) }
        }
    }

    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Shows reason, source, time and the start of each dead letter.",
            discussion: """
                Sorts by the time at which the record became a dead letter, oldest first. Letters of the same
                millisecond are sorted by their partition and offset in the dead-letter topic.
                """)

        @OptionGroup var letters: DeadLetterOptions
        @Flag(help: "Leaves out dead letters that were sent back already.") var pending = false
        @Option(help: "Shows at most this many, the oldest.") var limit: Int?
        @Flag(help: "Prints one JSON object per dead letter and line.") var json = false

        func validate() throws {
            try requirePositive(limit, "--limit")
        }

        func run() async throws {
            let found = try await letters.read().snapshot.letters.filter { !pending || !$0.isRedriven }
            for letter in found.prefix(limit ?? .max) {
                Terminal.line(json ? DeadLetterText.json(letter) : DeadLetterText.full(letter))
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

        @OptionGroup var letters: DeadLetterOptions
        @Option(help: "Shows at most this many, the oldest.") var limit = 10
        @Flag(help: "Prints one JSON object per dead letter and line.") var json = false

        func validate() throws {
            try requirePositive(limit, "--limit")
        }

        func run() async throws {
            let (topic, snapshot) = try await letters.read()
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
        }
    }
}

/// The options of the commands that read dead letters.
struct DeadLetterOptions: ParsableArguments {
    @OptionGroup(title: "Filter") var filter: DeadLetterFilter
    @OptionGroup var tool: ToolOptions

    /// Reads the dead letters that match, and notes if there are none.
    func read() async throws -> (topic: DeadLetterTopic, snapshot: DeadLetterTopic.Snapshot) {
        let (settings, log) = try await tool.load()
        let topic = try DeadLetterTopic(settings, timeout: tool.timeout.duration, log: log)
        let snapshot = try await topic.snapshot(matching: filter.matches)
        if snapshot.letters.isEmpty { Terminal.note("no matching dead letters in \(topic.name)") }
        return (topic, snapshot)
    }
}
