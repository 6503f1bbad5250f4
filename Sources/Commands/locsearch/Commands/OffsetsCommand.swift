import ArgumentParser

struct OffsetsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offsets", abstract: "Shows and moves the offsets of the workers' group.",
        discussion: """
            A worker commits the offset up to which all requests are finished, and with it the done-set: the requests
            beyond it that are finished too. Kafka's own tools show only the offset.

              locsearch offsets show
              locsearch offsets show --json
              locsearch offsets reset --to 2h --dry-run
              locsearch offsets reset --to 2026-11-21T09:30:00Z
              locsearch offsets reset --to 1200 --partition 3 --yes
            """, subcommands: [ShowCommand.self, ResetCommand.self])
}

struct OffsetsOptions: ParsableArguments {
    @Option(help: "The group. Default: kafka.groupId.") var group: String?
    @Option(help: "The topic. Default: all of topics.requests.") var topic: String?
    @Option(help: "Timeout of each request to the brokers.", transform: DurationArgument.read) var timeout =
        DurationArgument(.seconds(15))

    func validate() throws {
        if group?.isEmpty == true { throw ValidationError("--group takes a name") }
        if topic?.isEmpty == true { throw ValidationError("--topic takes a name") }
    }

    /// Runs `body` with the group's offsets, then closes their connections.
    func run(_ options: SettingsOptions, _ body: (GroupOffsets) async throws -> Void) async throws {
        let (settings, log) = try await ToolSettings.load(options)
        let offsets = try GroupOffsets(settings, group: group, topic: topic, timeout: timeout.duration, log: log)
        do {
            try await body(offsets)
        } catch {
            await offsets.close()
            throw error
        }
        await offsets.close()
    }
}
