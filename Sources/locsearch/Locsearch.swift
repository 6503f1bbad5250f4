import ArgumentParser

/// The command line: `locsearch COMMAND`.
@main
struct Locsearch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locsearch",
        abstract: "Kafka-driven search for places: requests in, exactly one outcome out for each.",
        version: Version.current,
        subcommands: [
            WorkerCommand.self, DemoCommand.self, SearchCommand.self, WatchCommand.self, BrokerCommand.self,
            SimulateCommand.self, ConsoleCommand.self, DeadLettersCommand.self, TopicsCommand.self, ProbeCommand.self,
            BudgetCommand.self, ConfigCommand.self,
        ])

    /// Exit codes are the contract's: 0, 64 wrong usage, 78 wrong configuration, 69 unreachable, 1 anything else.
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            try WrongUsage.checkHelp(arguments)
            try await run(arguments)
            flushLog()
        } catch {
            let translated = Failure.translated(error)
            flushLog()
            exit(withError: translated)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        var command = try parseAsRoot(arguments)
        do {
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as ValidationError {
            Terminal.writeError(WrongUsage.text(error, of: type(of: command)))
            throw ExitCode(WrongUsage.code)
        }
    }
}
