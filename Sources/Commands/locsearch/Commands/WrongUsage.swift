import ArgumentParser

/// Wrong usage that shows only while a command runs, or that ArgumentParser takes for right.
enum WrongUsage {
    /// The contract's exit code for it.
    static let code: Int32 = 64

    /// Puts the usage of one command below a message, as ArgumentParser does for what it finds itself; without this, it
    /// would be the usage of `locsearch`, which tells nobody what to correct.
    static func text(
        _ error: ValidationError, of command: any ParsableCommand.Type, below root: any ParsableCommand.Type
    ) -> String {
        let path = path(to: command, below: root) ?? ["locsearch"]
        return """
            Error: \(error.message)
            Usage: \(root.usageString(for: command))
              See '\(path.joined(separator: " ")) --help' for more information.

            """
    }

    /// Checks `locsearch help COMMAND ...`: ArgumentParser answers it with the help of `locsearch` for a command that
    /// there is not, as if nothing were wrong.
    /// - Parameter arguments: without the program's name.
    static func checkHelp(_ arguments: [String], of root: any ParsableCommand.Type) throws(ValidationError) {
        guard arguments.first == "help" else { return }

        var command = root
        for argument in arguments.dropFirst() where !["help", "-h", "--help"].contains(argument) {
            let subcommands = command.configuration.subcommands
            guard let next = subcommands.first(where: { name(of: $0) == argument }) else {
                let offer = subcommands.map { name(of: $0) }.joined(separator: ", ")
                throw ValidationError("no command \(argument)" + (offer.isEmpty ? "" : "; there are \(offer)"))
            }
            command = next
        }
    }

    /// Checks the command's name, and the names of commands within it: ArgumentParser would call a misspelt one an unexpected
    /// argument.
    /// - Parameter arguments: without the program's name.
    static func checkCommand(_ arguments: [String], of root: any ParsableCommand.Type) throws(ValidationError) {
        var command = root
        for argument in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return }
            guard let next = subcommands.first(where: { name(of: $0) == argument }) else {
                let names = subcommands.map { name(of: $0) }
                // Commands are few and short, so that two slips in one of them are told from its neighbours.
                let meant = Misspelling.meant(by: argument, among: names, slips: argument.count < 5 ? 1 : 2)
                let offer = meant.map { ": did you mean \($0)?" } ?? "; there are \(names.joined(separator: ", "))"
                throw ValidationError("no command \(argument)" + offer)
            }
            command = next
        }
    }

    /// Returns what to type for a command: `["locsearch", "dead-letters", "list"]`.
    private static func path(
        to command: any ParsableCommand.Type, below root: any ParsableCommand.Type
    ) -> [String]? {
        if ObjectIdentifier(command) == ObjectIdentifier(root) { return [name(of: root)] }

        for subcommand in root.configuration.subcommands {
            if let path = path(to: command, below: subcommand) { return [name(of: root)] + path }
        }
        return nil
    }

    private static func name(of command: any ParsableCommand.Type) -> String { command.configuration.commandName ?? "" }
}
