import ArgumentParser

struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters", abstract: "Shows records that were not valid requests, and sends them back.",
        discussion: """
            Each record that cannot be read as a request ends as an error event, and its unchanged bytes are written \
            to the dead-letter topic. After the cause is fixed, for example in the worker, it can be sent back.

              locsearch dead-letters groups
              locsearch dead-letters list --reason invalid-request
              locsearch dead-letters show --partition 3 --from-offset 1200 --limit 1
              locsearch dead-letters redrive --dry-run
              locsearch dead-letters redrive --since 2026-11-21T09:00:00Z --rate 50
              locsearch dead-letters redrive --edit --limit 1

            These commands read the whole topic, up to its end at their start. If the brokers do not return all of it,
            they show and send nothing: exit code 69.
            """, subcommands: [GroupsCommand.self, ListCommand.self, ShowCommand.self, RedriveCommand.self])
}
