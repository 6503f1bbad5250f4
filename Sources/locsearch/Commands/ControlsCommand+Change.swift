import ArgumentParser
internal import Basics
import Foundation
import LocationSearch
import QuotaSharing
internal import WorkerRuntime

extension ControlsCommand {
    struct PauseCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause", abstract: "Has a provider not be asked, or no request begin.",
            discussion: """
                A paused provider gets no call; calls under way finish. Requests go on to the next provider, or fare as
                providers.<name>.whenOpen says. With paused intake nothing new begins, what is in flight finishes, and workers
                keep their partitions; they are not ready meanwhile, and say who has paused them.
                """)

        @Argument(help: "intake, google-places, google-places-legacy or hotpepper.") var target: String
        @OptionGroup var end: ControlEnd
        @OptionGroup var change: ControlChange
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws { _ = try PauseTarget(target) }

        func run() async throws {
            try await change.make(options: options, words: "pause \(target)") { by, at in
                var order = try PauseTarget(target).order(by: by, at: at)
                order.until = try end.milliseconds(at: at)
                return order
            }
        }
    }

    struct ResumeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: "Takes a pause back.",
            discussion: """
                Without --worker it ends the pauses of single workers as well. With --worker it takes one worker out of a pause
                of the fleet.
                """)

        @Argument(help: "intake, google-places, google-places-legacy or hotpepper.") var target: String
        @OptionGroup var change: ControlChange
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws { _ = try PauseTarget(target) }

        func run() async throws {
            try await change.make(options: options, words: "resume \(target)") { by, at in
                var order = try PauseTarget(target).order(by: by, at: at)
                order.isTakenBack = true
                return order
            }
        }
    }

    struct RateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rate", abstract: "Changes how often a provider may be called.",
            discussion: """
                In place of providers.<name>.requestsPerSecond, and shared by the workers in the same way. With --worker one
                worker has its share of this rate in place of its share of the setting. More than the setting is refused
                without --force.

                  locsearch controls rate hotpepper 20 --for 2h
                  locsearch controls rate hotpepper reset
                """)

        @Argument(help: "google-places, google-places-legacy or hotpepper.") var provider: String
        @Argument(help: "Calls a second of the whole key, or reset.") var value: String
        @OptionGroup var setting: SettingChange

        func validate() throws { _ = try order(by: "", at: 0) }

        private func order(by: String, at time: Int64) throws -> ControlOrder {
            var order = ControlOrder(.rate, provider: try BudgetChange.provider(provider).rawValue, by: by, at: time)
            try order.setNumber(value, of: "a rate", in: ControlPolicy.rateRange)
            return order
        }

        func run() async throws { try await setting.make(words: "rate \(provider) \(value)", order: order) }
    }

    struct ConcurrencyCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "concurrency", abstract: "Changes how many requests each process has in flight at most.",
            discussion: """
                In place of worker.concurrency. What is in flight finishes. More than the setting is refused without --force.

                  locsearch controls concurrency 64
                  locsearch controls concurrency reset
                """)

        @Argument(help: "Requests in flight in a process, or reset.") var value: String
        @OptionGroup var setting: SettingChange

        func validate() throws { _ = try order(by: "", at: 0) }

        private func order(by: String, at time: Int64) throws -> ControlOrder {
            var order = ControlOrder(.concurrency, by: by, at: time)
            try order.setNumber(value, of: "a concurrency", in: ControlPolicy.concurrencyRange)
            if let number = order.number?.value, number != number.rounded() {
                throw ValidationError("a concurrency is a whole number")
            }
            return order
        }

        func run() async throws { try await setting.make(words: "concurrency \(value)", order: order) }
    }

    struct LogLevelCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log-level", abstract: "Changes which lines workers log.",
            discussion: """
                In place of log.level.

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
                    throw ValidationError("\(level) is no level: expected one of \(names), or reset")
                }
                order.level = level
            }
            return order
        }

        func run() async throws { try await setting.make(words: "log-level \(level)", order: order) }
    }

    struct DrainCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drain", abstract: "Has one worker finish what it has, leave its group and end.",
            discussion: """
                It ends with status 0, as after SIGTERM. What starts workers where you run them may start it again: to have one
                less, scale there.
                """)

        @Argument(help: "The worker: a name of locsearch status or an id of locsearch controls.") var worker: String
        @OptionGroup var change: ControlChange
        @OptionGroup(title: "Settings") var options: SettingsOptions

        func validate() throws {
            guard change.worker == nil else { throw ValidationError("drain takes the worker without --worker") }
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

// MARK: - What is changed

/// What can be paused.
struct PauseTarget {
    private let provider: ProviderID?

    init(_ name: String) throws {
        provider = ProviderID(rawValue: name)
        guard provider != nil || name == "intake" else {
            let names = ["intake"] + ProviderID.allCases.map(\.rawValue)
            throw ValidationError("\(name) cannot be paused: expected one of \(names.joined(separator: ", "))")
        }
    }

    func order(by: String, at time: Int64) -> ControlOrder {
        ControlOrder(provider == nil ? .pauseIntake : .pauseProvider, provider: provider?.rawValue, by: by, at: time)
    }
}

extension ControlOrder {
    /// Takes a number over, or the word that takes earlier orders back.
    fileprivate mutating func setNumber(_ text: String, of what: String, in range: ClosedRange<Double>) throws {
        isTakenBack = text == "reset"
        if isTakenBack { return }

        guard let value = Double(text), range.contains(value) else {
            let (least, most) = (ControlPolicy.plain(range.lowerBound), ControlPolicy.plain(range.upperBound))
            throw ValidationError("\(text) is no number for \(what): expected \(least) to \(most), or reset")
        }
        number = ControlNumber(value)
    }
}

/// The options of the commands that give something the place of a setting.
struct SettingChange: ParsableArguments {
    @Flag(help: "Goes beyond the workers' settings.") var force = false
    @OptionGroup var end: ControlEnd
    @OptionGroup var change: ControlChange
    @OptionGroup(title: "Settings") var options: SettingsOptions

    func make(words: String, order: (_ by: String, _ at: Int64) throws -> ControlOrder) async throws {
        try await change.make(
            options: options, words: words, cure: force ? nil : "--force goes beyond the settings"
        ) { by, at in
            var order = try order(by, at)
            guard !order.isTakenBack else { return order }
            order.isForced = force
            order.until = try end.milliseconds(at: at)
            return order
        }
    }
}

/// Until when an order lasts.
struct ControlEnd: ParsableArguments {
    @Option(help: "The end: 18:00 by the clock here, or 2026-11-25T18:00:00+09:00. Default: until it is taken back.")
    var until: String?
    @Option(name: .customLong("for"), help: "How long it lasts, such as 30m.", transform: DurationArgument.read)
    var time: DurationArgument?

    func validate() throws {
        guard until == nil || time == nil else { throw ValidationError("--until and --for exclude each other") }
        _ = try milliseconds(at: WallTime.now().milliseconds)
    }

    /// - Returns: `nil` for an order that lasts until it is taken back.
    func milliseconds(at now: Int64) throws -> Int64? {
        let date = Date(timeIntervalSince1970: Double(now) / 1000)
        if let until { return try ControlTime.end(until, at: date) }
        return try time.map { try ControlTime.end(after: $0.duration, at: date) }
    }
}

// MARK: - The change

/// The steps that the commands that give an order have in common.
struct ControlChange: ParsableArguments {
    @Option(help: "One worker: a name of locsearch status or an id of locsearch controls. Default: the whole fleet.")
    var worker: String?
    @Flag(help: "Asks no question.") var yes = false
    @Flag(help: "Gives the order although no worker answers: it counts for those that start.") var later = false
    @Option(help: "How long the broker may say nothing before the command fails.", transform: DurationArgument.read)
    var timeout = DurationArgument(.seconds(15))

    /// The time that workers have to take an order up.
    private static let timeToTakeUp = Duration.seconds(5)

    /// Asks the workers, then the person, gives the order, and shows what has become of it.
    /// - Parameters:
    ///   - words: the order for the question.
    ///   - cure: what helps against a refusal; `nil`: nothing does.
    ///   - order: made of the one who gives it and the present time.
    func make(
        options: SettingsOptions, words: String, cure: String? = nil,
        order: (_ by: String, _ at: Int64) throws -> ControlOrder
    ) async throws {
        let (settings, log) = try await ToolSettings.load(options)
        let topic = try ControlTopic(settings, timeout: timeout.duration, log: log)
        let meant = try await worker(among: topic)
        func present() throws -> ControlOrder {
            var order = try order(Self.person, WallTime.now().milliseconds)
            (order.instance, order.worker) = (meant?.instance, meant?.name)
            return order
        }

        let proposal = try present()
        let workers = try await topic.ask(proposal, atMost: meant == nil ? nil : 1)
        try require(workers, group: settings.text("kafka.groupId"), cure: cure)
        guard yes || isConfirmed(words, order: proposal, workers: workers.count) else {
            throw Failure(code: 1, description: "nothing was changed")
        }

        // The person may have thought for a while: the time of the order, and what --for counts from, is now.
        let order = try present()
        let answers = try await topic.give(order, atMost: workers.count, within: Self.timeToTakeUp)
        try report(answers, of: workers, order: order)
        Terminal.line()
        for line in ControlReport(try await topic.book()).text { Terminal.line(TerminalText.safe(line)) }
    }

    /// The one who gives the order: `user@host`.
    static var person: String { "\(NSUserName())@\(HostName.own ?? "unknown host")" }

    private func worker(among topic: ControlTopic) async throws -> ControlTopic.Worker? {
        guard let worker else { return nil }
        return try Self.worker(worker, among: try await topic.ask())
    }

    /// Returns the worker that a person means.
    static func worker(
        _ name: String, among workers: [ControlTopic.Worker]
    ) throws -> ControlTopic.Worker {
        let meant = workers.filter { $0.name == name || $0.instance == name }
        if meant.count == 1 { return meant[0] }

        let problem: String
        if meant.isEmpty {
            let names = Set(workers.map(\.name)).sorted().joined(separator: ", ")
            problem = "no worker \(name) answers" + (names.isEmpty ? "" : "; there are \(names)")
        } else {
            let ids = meant.map(\.instance).joined(separator: ", ")
            problem = "\(meant.count) workers are called \(name); give one of their ids: \(ids)"
        }
        throw Failure(code: 1, description: "\(problem). Nothing was changed")
    }

    /// - Throws: where the order would bind nobody, or where a worker would refuse it.
    private func require(_ workers: [ControlTopic.Worker], group: String, cure: String?) throws {
        guard !workers.isEmpty || later else {
            throw Failure(
                code: 1,
                description: """
                    0 workers of the group \(group) answer, so nothing was changed: start them, or see whether they can read \
                    topics.fleet; --later gives the order to those that start
                    """)
        }
        let refusals = workers.compactMap { worker in worker.refusal.map { "\(worker.name): \($0)" } }
        guard refusals.isEmpty else {
            let cure = cure.map { "; \($0)" } ?? ""
            throw Failure(
                code: 1,
                description: "refused, so nothing was changed: \(refusals.joined(separator: "; "))\(cure)")
        }
    }

    private func isConfirmed(_ words: String, order: ControlOrder, workers: Int) -> Bool {
        let end = order.until.map { " until \(ControlReport.local($0))" } ?? ""
        let target = order.instance == nil ? " for all \(workers) workers of the fleet" : " for \(order.workerText)"
        Terminal.writeError("\(words)\(order.control == .drain ? "" : target)\(end)? [y/N] ")
        let answer = readLine()?.lowercased()
        return answer == "y" || answer == "yes"
    }

    /// Says how many workers have taken the order up.
    private func report(
        _ answers: [ControlTopic.Worker], of workers: [ControlTopic.Worker], order: ControlOrder
    ) throws {
        let taken = answers.filter { $0.refusal == nil }
        let count =
            "\(taken.count) of \(workers.count) \(workers.count == 1 ? "worker has" : "workers have") taken it up"
        guard taken.count < workers.count else {
            Terminal.line(count)
            if order.control == .drain {
                Terminal.line(
                    "it finishes what it has, and ends with status 0; what starts workers may start it again")
            }
            return
        }

        let missing = workers.filter { worker in !taken.contains { $0.instance == worker.instance } }.map { worker in
            let refusal = answers.first { $0.instance == worker.instance }?.refusal
            return "\(worker.name) (\(worker.instance)): \(refusal ?? "no answer within \(Self.timeToTakeUp.readable)")"
        }
        throw Failure(
            code: 1,
            description: """
                \(count). The order is given, and counts for a worker as soon as it reads the topic: \
                \(missing.joined(separator: "; "))
                """)
    }
}
