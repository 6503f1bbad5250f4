import ArgumentParser

/// Wrong usage that ArgumentParser accepts, or that is detected only while a command runs.
enum WrongUsage {
    static let code: Int32 = 64

    /// Appends the usage of one command to a message, as ArgumentParser does for the errors that it finds. Without
    /// this, the usage of `locsearch` would be shown, which does not help to correct the mistake.
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

    /// Checks the names of the command and its subcommands. ArgumentParser would report a misspelt name as an
    /// unexpected argument.
    /// - Parameter arguments: without the program's name.
    static func checkCommand(_ arguments: [String], of root: any ParsableCommand.Type) throws(ValidationError) {
        var command = root
        for argument in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return }
            guard let next = subcommands.first(where: { name(of: $0) == argument }) else {
                let names = subcommands.map { name(of: $0) }
                // The names are few and short, so names under 5 characters allow one typing error, and longer ones two.
                let meant = Misspelling.meant(by: argument, among: names, slips: argument.count < 5 ? 1 : 2)
                let offer = meant.map { ": did you mean \($0)?" } ?? "; there are \(names.joined(separator: ", "))"
                throw ValidationError("no command \(argument)" + offer)
            }
            command = next
        }
    }

    /// Returns the words to type for a command: `["locsearch", "dead-letters", "list"]`.
    private static func path(to command: any ParsableCommand.Type, below root: any ParsableCommand.Type) -> [String]? {
        if ObjectIdentifier(command) == ObjectIdentifier(root) { return [name(of: root)] }

        for subcommand in root.configuration.subcommands {
            if let path = path(to: command, below: subcommand) { return [name(of: root)] + path }
        }
        return nil
    }

    private static func name(of command: any ParsableCommand.Type) -> String { command.configuration.commandName ?? "" }
}
