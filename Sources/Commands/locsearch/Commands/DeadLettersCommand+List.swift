import ArgumentParser

extension DeadLettersCommand {
    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Shows reason, source, time and the head of each dead letter.",
            discussion: """
                The oldest comes first, by the time at which it was put aside. Of letters of one millisecond, the one
                that stands first in the dead-letter topic comes first: the lower partition, then the lower offset.
                """)

        @OptionGroup(title: "Filter") var filter: DeadLetterFilter
        @Flag(help: "Leaves out those that went back already.") var pending = false
        @Option(help: "Shows at most so many, the oldest.") var limit: Int?
        @Flag(help: "One dead letter a line, as JSON.") var json = false
        @Option(help: "How long the broker may say nothing before the command fails.", transform: DurationArgument.read)
        var timeout = DurationArgument(.seconds(15))
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
        }

        func run() async throws {
            let (settings, log) = try await ToolSettings.load(options)
            let topic = try DeadLetterTopic(settings, timeout: timeout.duration, judges: true, log: log)

            let letters = try await topic.snapshot(matching: filter.matches).letters.filter {
                !pending || !$0.isRedriven
            }
            for letter in letters.prefix(limit ?? .max) {
                Terminal.line(json ? DeadLetterText.json(letter) : DeadLetterText.full(letter))
            }

            if !json, letters.isEmpty { Terminal.note("no dead letters in \(topic.name) that match") }
        }
    }
}
