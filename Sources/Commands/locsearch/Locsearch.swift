import ArgumentParser

/// The command line: `locsearch COMMAND`.
@main
struct Locsearch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "locsearch",
        abstract: "Kafka-driven search for places: requests in, exactly one outcome out for each.",
        version: Version.current,
        subcommands: [
            WorkerCommand.self, DemoCommand.self, SearchCommand.self, WatchCommand.self, StatusCommand.self,
            BrokerCommand.self,
            SimulateCommand.self, ConsoleCommand.self, DeadLettersCommand.self, TopicsCommand.self, ProbeCommand.self,
            BudgetCommand.self, ControlsCommand.self, OffsetsCommand.self, ExplainCommand.self, ConfigCommand.self,
            DoctorCommand.self,
        ])

    /// Runs the command. The documented exit codes are 0, 64 (wrong usage), 78 (wrong configuration), 69 (unreachable)
    /// and 1 (anything else). `status` has an additional one.
    static func main() async {
        FileDescriptors.fillClosedStandardOnes()
        endOnSignalsInContainer()
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            try WrongUsage.checkCommand(arguments, of: Self.self)
            try await run(arguments)
        } catch {
            end(with: Failure.translated(error))
        }
        endProcess(ExitCode.success.rawValue)
    }

    /// Ends the process with an error's text and code. ArgumentParser also reports requests for help or the version as
    /// errors.
    private static func end(with error: any Error) -> Never {
        let (text, code) = (fullMessage(for: error), exitCode(for: error))
        if code == .success {
            Terminal.line(text)
        } else if !text.isEmpty {
            flushLog()  // log lines must come before the text
            Terminal.writeError("\(text)\n")
        }
        endProcess(code.rawValue)
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
            Terminal.writeError(WrongUsage.text(error, of: type(of: command), below: Self.self))
            throw ExitCode(WrongUsage.code)
        }
    }
}
