import ArgumentParser

extension OffsetsCommand {
    struct ShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Shows by partition what is committed, done beyond that, and open.",
            discussion: """
                lag is the log's end less the committed offset, as Kafka's tools count it. done beyond counts what workers have
                finished although an earlier request is open; open is the rest: what is still to be done. All of them count
                offsets, of which some may hold no request (ends of transactions, compacted records). What workers have in
                hand since the last commit is not seen.

                It joins no group and changes nothing, so that it may run at any time, with workers or without.

                Exit codes: 0 shown; 1 no such topic, or not allowed; 69 no broker answers; 78 a wrong setting.
                """)

        @OptionGroup var offsets: OffsetsOptions
        @Flag(help: "One partition a line, as JSON.") var json = false
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func run() async throws {
            try await offsets.run(options) { offsets in
                let report = try await offsets.report()
                for line in json ? report.json : report.text { Terminal.line(line) }
            }
        }
    }
}
