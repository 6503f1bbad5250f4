import ArgumentParser
internal import Basics
import Foundation
import LocationSearch
import QuotaSharing
internal import WorkerRuntime

extension ControlsCommand {
    struct PauseCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause", abstract: "Pauses calls to a provider, or the intake of requests.",
            discussion: """
                No calls are made to a paused provider; calls in progress finish. Requests use the next provider, or are
                handled as providers.<name>.whenOpen specifies. While intake is paused, no request starts, requests in
                flight finish, and workers keep their partitions. They report that they are not ready, and who paused
                them.
                """)

        @Argument(help: "intake, google-places, google-places-legacy or hotpepper.") var target: String
        @OptionGroup var end: ControlEnd
        @OptionGroup var change: ControlChange
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws { _ = try ControlOrder.pause(target, by: "", at: 0) }

        func run() async throws {
            let end = try end.fixed(at: WallTime.now().milliseconds)
            try await change.make(options: options, words: "pause \(target)") { by, at in
                var order = try ControlOrder.pause(target, by: by, at: at)
                order.until = try end(at)
                return order
            }
        }
    }

    struct ResumeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Ends a pause.",
            discussion: """
                Without --worker it also ends the pauses of single workers. With --worker it exempts one worker from a
                pause of the fleet.
                """)

        @Argument(help: "intake, google-places, google-places-legacy or hotpepper.") var target: String
        @OptionGroup var change: ControlChange
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws { _ = try ControlOrder.pause(target, by: "", at: 0) }

        func run() async throws {
            try await change.make(options: options, words: "resume \(target)") { by, at in
                var order = try ControlOrder.pause(target, by: by, at: at)
                order.isTakenBack = true
                return order
            }
        }
    }

    struct RetryCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Calls a provider again whose key was rejected or used up.",
            discussion: """
                Use it once the key is repaired at the provider, or its quota raised. The next requests test it at once,
                instead of after five minutes for a key, or an hour for a quota.
                """)

        @Argument(help: "google-places, google-places-legacy or hotpepper.") var provider: String
        @OptionGroup var change: ControlChange
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws { _ = try ProviderID(argument: provider) }

        func run() async throws {
            try await change.make(options: options, words: "call \(provider) again") { by, at in
                ControlOrder(.retry, provider: provider, by: by, at: at)
            }
        }
    }

    struct RateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rate", abstract: "Changes the rate limit of a provider.",
            discussion: """
                The rate replaces providers.<name>.requestsPerSecond, and workers share it in the same way. With
                --worker, one worker uses its share of this rate instead of its share of the setting. Rates above the
                setting are refused unless --force is given.

                  locsearch controls rate hotpepper 20 --for 2h
                  locsearch controls rate hotpepper reset
                """)

        @Argument(help: "google-places, google-places-legacy or hotpepper.") var provider: String
        @Argument(help: "Calls per second of the API key, or reset.") var value: String
        @OptionGroup var setting: SettingChange

        func validate() throws { _ = try order(by: "", at: 0) }

        private func order(by: String, at time: Int64) throws -> ControlOrder {
            var order = ControlOrder(.rate, provider: try ProviderID(argument: provider).rawValue, by: by, at: time)
            try order.setNumber(value, of: "a rate", in: ControlPolicy.rateRange)
            return order
        }

        func run() async throws { try await setting.make(words: "rate \(provider) \(value)", order: order) }
    }

    struct ConcurrencyCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "concurrency", abstract: "Changes the maximum number of requests in flight in each process.",
            discussion: """
                The number replaces worker.concurrency. Requests in flight finish. Numbers above the setting are refused
                unless --force is given.

                  locsearch controls concurrency 64
                  locsearch controls concurrency reset
                """)

        @Argument(help: "Requests in flight in a process, or reset.") var value: String
        @OptionGroup var setting: SettingChange

        func validate() throws { _ = try order(by: "", at: 0) }

        private func order(by: String, at time: Int64) throws -> ControlOrder {
            var order = ControlOrder(.concurrency, by: by, at: time)
            try order.setNumber(value, of: "a concurrency", in: ControlPolicy.concurrencyRange)
            if let number = order.number, number != number.rounded() {
                throw ValidationError("the concurrency must be a whole number")
            }
            return order
        }

        func run() async throws { try await setting.make(words: "concurrency \(value)", order: order) }
    }

    struct LogLevelCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log-level", abstract: "Changes the log level of workers.",
            discussion: """
                The level replaces log.level.

                  locsearch controls log-level debug --for 10m --worker web-1
                  locsearch controls log-level reset
                """)

        @Argument(help: "trace, debug, info, notice, warning, error or critical; or reset.") var level: String
        @OptionGroup var setting: SettingChange

        func validate() throws { _ = try order(by: "", at: 0) }

        private func order(by: String, at time: Int64) throws -> ControlOrder {
            var order = ControlOrder(.logLevel, by: by, at: time)
            order.isTakenBack = level == "reset"
            if !order.isTakenBack {
                guard ControlPolicy.logLevels.contains(level) else {
                    let names = ControlPolicy.logLevels.joined(separator: ", ")
                    throw ValidationError("\(level) is not a log level: expected one of \(names), or reset")
                }
                order.level = level
            }
            return order
        }

        func run() async throws { try await setting.make(words: "log-level \(level)", order: order) }
    }

    struct DrainCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drain", abstract: "Stops one worker after its requests in flight.",
            discussion: """
                The worker leaves its group and exits with status 0, as after SIGTERM. Kubernetes, systemd or another
                supervisor may start it again; to run fewer workers, change their number there.
                """)

        @Argument(help: "The worker: a name of locsearch status or an id of locsearch controls.") var worker: String
        @OptionGroup var change: ControlChange
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            guard change.worker == nil else {
                throw ValidationError("drain takes the worker as an argument, not as --worker")
            }
        }

        func run() async throws {
            var change = change
            change.worker = worker
            try await change.make(options: options, words: "drain \(worker)") { by, at in
                ControlOrder(.drain, by: by, at: at)
            }
        }
    }
}

// MARK: - Arguments

extension ControlOrder {
    /// Pauses intake, or calls to one provider.
    fileprivate static func pause(_ target: String, by: String, at time: Int64) throws -> ControlOrder {
        guard target != "intake" else { return ControlOrder(.pauseIntake, by: by, at: time) }
        guard let provider = ProviderID(rawValue: target) else {
            let names = ["intake"] + ProviderID.allCases.map(\.rawValue)
            throw ValidationError("\(target) cannot be paused: expected one of \(names.joined(separator: ", "))")
        }
        return ControlOrder(.pauseProvider, provider: provider.rawValue, by: by, at: time)
    }

    /// Reads a number, or `reset`, which withdraws earlier orders.
    fileprivate mutating func setNumber(_ text: String, of what: String, in range: ClosedRange<Double>) throws {
        isTakenBack = text == "reset"
        if isTakenBack { return }

        guard let value = Double(text), range.contains(value) else {
            let (least, most) = (ControlPolicy.plain(range.lowerBound), ControlPolicy.plain(range.upperBound))
            throw ValidationError("\(text) is not a number for \(what): expected \(least) to \(most), or reset")
        }
        number = value
    }
}

/// The options of the commands that override a setting.
struct SettingChange: ParsableArguments {
    @Flag(help: "Allows values beyond the workers' settings.") var force = false
    @OptionGroup var end: ControlEnd
    @OptionGroup var change: ControlChange
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func make(words: String, order: (_ by: String, _ at: Int64) throws -> ControlOrder) async throws {
        let end = try end.fixed(at: WallTime.now().milliseconds)
        try await change.make(
            options: options, words: words, cure: force ? nil : "--force overrides the limit of a setting"
        ) { by, at in
            var order = try order(by, at)
            guard !order.isTakenBack else { return order }
            order.isForced = force
            order.until = try end(at)
            return order
        }
    }
}

/// The options that set when an order ends.
struct ControlEnd: ParsableArguments {
    @Option(help: "End of the order: 18:00 local time, or 2026-11-25T18:00:00+09:00. Default: until it is withdrawn.")
    var until: String?
    @Option(name: .customLong("for"), help: "Duration of the order, such as 30m.", transform: DurationArgument.read)
    var time: DurationArgument?

    func validate() throws {
        guard until == nil || time == nil else { throw ValidationError("--until and --for exclude each other") }
        _ = try milliseconds(at: WallTime.now().milliseconds)
    }

    /// - Returns: `nil` for an order that lasts until it is withdrawn.
    func milliseconds(at now: Int64) throws -> Int64? {
        let date = Date(timeIntervalSince1970: Double(now) / 1000)
        if let until { return try ControlTime.end(until, at: date) }
        return try time.map { try ControlTime.end(after: $0.duration, at: date) }
    }

    /// Returns the end as a function of the time at which the order is published. `--for` counts from that time. The
    /// end by `--until` is fixed now: if the user confirmed after 18:00, `18:00` would otherwise mean the next day.
    /// - Throws: a usage error; the function throws `Failure` if the end by `--until` has passed.
    func fixed(at now: Int64) throws -> (_ time: Int64) throws -> Int64? {
        guard let until, let end = try milliseconds(at: now) else { return milliseconds(at:) }
        return { time in
            guard end > time else { throw Failure("--until \(until) has passed, so nothing was changed") }
            return end
        }
    }
}
