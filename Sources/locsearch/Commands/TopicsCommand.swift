import ArgumentParser

struct TopicsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics", abstract: "Makes the topics that a worker needs, or checks those that exist.",
        discussion: """
              locsearch topics create --dry-run
              locsearch topics create --partitions 24 --retention results=6h
              locsearch topics create --print
            """, subcommands: [CreateCommand.self])
}
