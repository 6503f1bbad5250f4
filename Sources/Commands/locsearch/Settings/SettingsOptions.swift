import ArgumentParser
import Foundation

/// The options of every command with settings: `--config FILE`, and any setting as a flag.
struct SettingsOptions: ParsableArguments {
    @Option(name: .long, help: "Settings file, JSON or YAML. Default: LOCSEARCH_CONFIG.")
    var config: String?

    @Argument(
        parsing: .allUnrecognized,
        help: "Any setting: --worker-concurrency 64, or --worker.concurrency=64. `locsearch config` lists them.")
    var settings: [String] = []

    /// - Parameter defaults: values by setting name. They override the environment and the file, and flags override
    ///   them.
    /// - Throws: a usage error for an unknown flag, or `SettingsError` for an invalid value.
    func load(defaults: [String: String] = [:]) throws -> Settings { try read(defaults: defaults).loaded() }

    /// Reads everything that can be read, and records the mistakes.
    /// - Parameter defaults: as in `load`.
    /// - Throws: a usage error for an unknown flag.
    func read(defaults: [String: String] = [:]) throws -> SettingsReading {
        SettingsReading(
            flags: defaults.merging(try flags()) { _, flag in flag }, file: config,
            environment: ProcessInfo.processInfo.environment)
    }

    /// Returns the values from the command line. If a flag is given twice, its last value applies, as for every option.
    private func flags() throws -> [String: String] {
        var flags: [String: String] = [:]
        var arguments = settings[...]
        var last: String?

        while let argument = arguments.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let setting = Setting.accepted.first(where: { $0.flagName == parts[0] || "--\($0.name)" == parts[0] })
            else { throw Self.unknown(parts[0], after: last) }

            guard let value = parts.count == 2 ? parts[1] : arguments.popFirst() else {
                throw ValidationError("\(argument) needs a value")
            }
            flags[setting.name] = value
            last = parts[0]
        }

        return flags
    }

    /// Returns a settings error for an argument that resembles a setting, and a usage error for any other.
    /// No error repeats a text that may be a secret, as after `--hotpepper-api-key= SECRET`.
    /// - Parameter last: the option before the argument.
    private static func unknown(_ argument: String, after last: String?) -> any Error {
        let shown = SettingsError.shown(argument)
        let names = Setting.accepted.flatMap { [$0.flagName, "--" + $0.name] }
        if let meant = Misspelling.meant(by: SettingsError.namePart(of: argument), among: names) {
            return SettingsError("\(shown) is not a setting: did you mean \(meant)?")
        }

        let groups = Set(Setting.accepted.compactMap { $0.name.split(separator: ".").first })
        let group = argument.drop { $0 == "-" }.prefix { $0 != "." && $0 != "-" }
        if argument.hasPrefix("--"), groups.contains(group) {
            return SettingsError.unknown(argument, "on the command line")
        }
        guard !argument.hasPrefix("--") else { return ValidationError("unknown option \(shown)") }

        let place = last.map { " after \($0)" } ?? ""
        return ValidationError("unknown argument\(place): settings are given as --name value or --name=value")
    }
}
