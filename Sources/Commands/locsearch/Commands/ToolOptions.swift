import ArgumentParser
import Logging

/// The options of a command that asks the brokers.
struct ToolOptions: ParsableArguments {
    @Option(help: "Fails after this time without a response from the broker.", transform: DurationArgument.read)
    var timeout = DurationArgument(.seconds(15))
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func load() async throws -> (settings: Settings, log: Logger) { try await ToolSettings.load(options) }
}

/// The options of a command about a consumer group.
struct GroupOptions: ParsableArguments {
    @Option(help: "The group. Default: kafka.groupId.") var group: String?
    @Option(help: "The topic. Default: all of topics.requests.") var topic: String?

    func validate() throws {
        if group?.isEmpty == true { throw ValidationError("--group takes a name") }
        if topic?.isEmpty == true { throw ValidationError("--topic takes a name") }
    }
}

extension DurationArgument {
    func require(_ range: ClosedRange<Duration>, _ option: String) throws {
        guard !range.contains(duration) else { return }
        throw ValidationError("\(option) takes \(range.lowerBound.text) to \(range.upperBound.text)")
    }
}

extension ParsableArguments {
    /// Requires that an option is not given, or is 1 or more.
    func requirePositive(_ count: Int?, _ option: String) throws {
        if let count, count < 1 { throw ValidationError("\(option) takes 1 or more") }
    }
}
