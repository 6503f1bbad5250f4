import ArgumentParser
internal import Basics
import Foundation
import QuotaSharing
internal import WorkerRuntime

/// The steps shared by the commands that publish an order.
struct ControlChange: ParsableArguments {
    @Option(help: "One worker: a name of locsearch status or an id of locsearch controls. Default: the whole fleet.")
    var worker: String?
    @Flag(help: "Does not ask for confirmation.") var yes = false
    @Flag(help: "Gives the order even if no worker responds: it applies to workers that start later.") var later = false
    @Option(help: "Fails after this time without a response from the broker.", transform: DurationArgument.read)
    var timeout = DurationArgument(.seconds(15))

    /// How long workers have to apply an order.
    private static let timeToTakeUp = Duration.seconds(5)

    /// Asks the workers whether they would accept the order, asks the user for confirmation, publishes the order, and
    /// shows the result.
    /// - Parameters:
    ///   - words: describes the order in the confirmation question.
    ///   - cure: how to avoid a refusal by a worker; `nil` if that is not possible.
    ///   - order: builds the order from its author and the current time.
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
        let hint = "--later gives the order to workers that start later"
        if let refusal = topic.refusal(of: workers, isLater: later, hint: hint, cure: cure) { throw Failure(refusal) }
        guard yes || isConfirmed(words, order: proposal, workers: workers.count) else {
            throw Failure("nothing was changed")
        }

        // The user may have taken a while to confirm: the order's time, from which `--for` counts, is the current time.
        let order = try present()
        let answers = try await topic.give(order, atMost: workers.count, within: Self.timeToTakeUp)
        try report(answers, of: workers, order: order)
        Terminal.line()
        for line in ControlReport(try await topic.book()).text { Terminal.line(TerminalText.safe(line)) }
    }

    /// The author of the order: `user@host`.
    static var person: String { "\(NSUserName())@\(HostName.own ?? "unknown host")" }

    private func worker(among topic: ControlTopic) async throws -> ControlTopic.Worker? {
        guard let worker else { return nil }
        return try Self.worker(worker, among: try await topic.ask())
    }

    /// Returns the worker with this name or instance id.
    static func worker(_ name: String, among workers: [ControlTopic.Worker]) throws -> ControlTopic.Worker {
        let meant = workers.filter { $0.name == name || $0.instance == name }
        if meant.count == 1 { return meant[0] }

        let problem: String
        if meant.isEmpty {
            let names = Set(workers.map(\.name)).sorted().joined(separator: ", ")
            problem = "no worker \(name) responds" + (names.isEmpty ? "" : "; running workers: \(names)")
        } else {
            let ids = meant.map(\.instance).joined(separator: ", ")
            problem = "\(meant.count) workers have the name \(name); give one of their ids: \(ids)"
        }
        throw Failure("\(problem). Nothing was changed")
    }

    private func isConfirmed(_ words: String, order: ControlOrder, workers: Int) -> Bool {
        let end = order.until.map { " until \(ControlReport.local($0))" } ?? ""
        let target = order.instance == nil ? " for all \(workers) workers of the fleet" : " for \(order.workerText)"
        // The worker's name comes from another process, so it is sanitised.
        return Terminal.confirms(TerminalText.safe("\(words)\(order.control == .drain ? "" : target)\(end)?"))
    }

    /// Prints how many workers have applied the order.
    private func report(
        _ answers: [ControlTopic.Worker], of workers: [ControlTopic.Worker], order: ControlOrder
    ) throws {
        let taken = answers.filter { $0.refusal == nil }
        let count =
            "\(taken.count) of \(workers.count) \(workers.count == 1 ? "worker has" : "workers have") applied it"
        guard taken.count < workers.count else {
            Terminal.line(count)
            if order.control == .drain {
                Terminal.line(
                    "it finishes its requests and exits with status 0; its supervisor may start it again")
            }
            return
        }

        let missing = workers.filter { worker in !taken.contains { $0.instance == worker.instance } }.map { worker in
            let refusal = answers.first { $0.instance == worker.instance }?.refusal
            return
                "\(worker.name) (\(worker.instance)): \(refusal ?? "no response within \(Self.timeToTakeUp.readable)")"
        }
        throw Failure(
            """
            \(count). The order is published, and each worker applies it when it reads the topic: \
            \(missing.joined(separator: "; "))
            """)
    }
}
