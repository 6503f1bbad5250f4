import ArgumentParser

extension DeadLettersCommand {
    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Shows reason, source, time and the start of each dead letter.",
            discussion: """
                Sorts by the time at which the record became a dead letter, oldest first. Letters of the same
                millisecond are sorted by their partition and offset in the dead-letter topic.
                """)

        @OptionGroup(title: "Filter") var filter: DeadLetterFilter
        @Flag(help: "Leaves out dead letters that were sent back already.") var pending = false
        @Option(help: "Shows at most this many, the oldest.") var limit: Int?
        @Flag(help: "Prints one JSON object per dead letter and line.") var json = false
        @Option(help: "Fails after this time without a response from the broker.", transform: DurationArgument.read)
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

            if !json, letters.isEmpty { Terminal.note("no matching dead letters in \(topic.name)") }
        }
    }
}
