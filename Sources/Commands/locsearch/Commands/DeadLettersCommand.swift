import ArgumentParser

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters", abstract: "Shows the records that were no requests, and sends them back.",
        discussion: """
            Every record that cannot be read as a request ends as an error event, and its untouched bytes go to the \
            dead-letter topic. Once what was wrong is mended - in the worker, say - they can go back.

              locsearch dead-letters groups
              locsearch dead-letters list --reason invalid-request
              locsearch dead-letters show --partition 3 --from-offset 1200 --limit 1
              locsearch dead-letters redrive --dry-run
              locsearch dead-letters redrive --since 2026-11-21T09:00:00Z --rate 50
              locsearch dead-letters redrive --edit --limit 1

            All of them read the whole topic up to where it ended when they began. When the brokers do not tell all of
            it, they show and send nothing: exit code 69.
            """, subcommands: [GroupsCommand.self, ListCommand.self, ShowCommand.self, RedriveCommand.self])
}
