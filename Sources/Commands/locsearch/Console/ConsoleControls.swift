import Basics
import Console
import JSON
import LocationSearch
import QuotaSharing
internal import WorkerRuntime

/// Publishes the orders given in the console: the orders of `locsearch controls` that pause and resume the fleet, and retry a provider.
extension KafkaConsoleBackend {
    /// `timeOfControls` is how long a page waits for the broker. `timeToTakeUp` is how long workers have to acknowledge an
    /// order.
    private static let (timeOfControls, timeToTakeUp) = (Duration.seconds(10), Duration.seconds(5))
    /// The user's name is unknown, because all users of a console share one token.
    private static var person: String { "console@\(HostName.own ?? "unknown host")" }

    /// Returns the orders in force, each in the form of `locsearch controls show --json`, and the names of the providers.
    func controls() async throws(ConsoleError) -> [UInt8] {
        let book = try await ConsoleError.asking { try await controlTopic().book() }
        return JSONWriter.object(capacity: 1024) { json in
            json.objects("orders", of: book.orders.filter { !$0.isTakenBack }) { order, json in
                order.writeMembers(to: &json)
            }
            json.member("providers", ProviderID.allCases.map(\.rawValue))
        }
    }

    func control(_ choice: PauseChoice) async throws(ConsoleError) -> (taken: Int, workers: Int) {
        if let provider = choice.provider, ProviderID(rawValue: provider) == nil {
            throw ConsoleError(.invalid, "there is no provider \(provider)", member: "provider")
        }
        let now = WallTime.now().milliseconds
        let time = choice.seconds.map { Duration.seconds(saturating: Double($0)) }
        var order = ControlOrder(
            choice.isRetry ? .retry : choice.provider == nil ? .pauseIntake : .pauseProvider, provider: choice.provider,
            until: time.map { now.saturatingAdding(Int64($0.milliseconds(roundedUp: true))) }, by: Self.person, at: now)
        order.isTakenBack = !choice.isPause && !choice.isRetry

        let given = order
        return try await ConsoleError.asking {
            let topic = try controlTopic()
            let workers = try await topic.ask(given)
            let hint = "choose that the order applies to workers that start later"
            if let refusal = topic.refusal(of: workers, isLater: choice.isLater, hint: hint) {
                throw ConsoleError(.invalid, refusal, member: workers.isEmpty ? "later" : nil)
            }
            let answers = try await topic.give(given, atMost: workers.count, within: Self.timeToTakeUp)
            return (taken: answers.count { $0.refusal == nil }, workers: workers.count)
        }
    }

    private func controlTopic() throws -> ControlTopic {
        try ControlTopic(settings, timeout: Self.timeOfControls, log: log)
    }
}
