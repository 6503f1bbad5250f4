import ArgumentParser

struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget", abstract: "Shows what of the day's calls is used and left, and changes a day's budget.",
        discussion: """
            The calls are those of all workers, as they told each other in the fleet's topic. Which budgets there are, and
            when a day begins, is read from the same settings as the workers' (providers.<name>.callsPerDay, dayBegins).

              locsearch budget
              locsearch budget --json
              locsearch budget set hotpepper 5000
              locsearch budget reset hotpepper --yes

            Reserved are calls that workers hold ready, and those that a crashed worker held: they count as taken.
            """, subcommands: [ShowCommand.self, SetCommand.self, ResetCommand.self],
        defaultSubcommand: ShowCommand.self)
}
