import ArgumentParser

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
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func run() async throws {
            try await offsets.run(options) { offsets in
                let report = try await offsets.report()
                for line in json ? report.json : report.text { Terminal.line(line) }
            }
        }
    }
}
