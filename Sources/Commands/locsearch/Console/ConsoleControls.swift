import Basics
import Console
import EventContract
import LocationSearch
import QuotaSharing
internal import WorkerRuntime

/// Publishes the orders given in the console: the orders of `locsearch controls` that pause and resume the fleet.
extension KafkaConsoleBackend {
    /// `timeOfControls` is how long a page waits for the broker. `timeToTakeUp` is how long workers have to acknowledge an
    /// order.
    private static let (timeOfControls, timeToTakeUp) = (Duration.seconds(10), Duration.seconds(5))
    /// The user's name is unknown, because all users of a console share one token.
    private static var person: String { "console@\(HostName.own ?? "unknown host")" }

    func controls() async throws(ConsoleError) -> ControlList {
        let book = try await ConsoleError.asking { try await controlTopic().book() }
        return ControlList(
            orders: book.orders.filter { !$0.isTakenBack }.map { ControlList.Order($0) },
            providers: ProviderID.allCases.map(\.rawValue))
    }

    func control(_ choice: PauseChoice) async throws(ConsoleError) -> ControlResult {
        if let provider = choice.provider, ProviderID(rawValue: provider) == nil {
            throw ConsoleError(.invalid, "there is no provider \(provider)", member: "provider")
        }
        let now = WallTime.now().milliseconds
        let time = choice.seconds.map { Duration.seconds(saturating: Double($0)) }
        var order = ControlOrder(
            choice.provider == nil ? .pauseIntake : .pauseProvider, provider: choice.provider,
            until: time.map { now.saturatingAdding(Int64($0.milliseconds(roundedUp: true))) }, by: Self.person, at: now)
        order.isTakenBack = !choice.isPause

        let given = order
        return try await ConsoleError.asking {
            let topic = try controlTopic()
            let workers = try await topic.ask(given)
            let hint = "choose that the order applies to workers that start later"
            if let refusal = topic.refusal(of: workers, isLater: choice.isLater, hint: hint) {
                throw ConsoleError(.invalid, refusal, member: workers.isEmpty ? "later" : nil)
            }
            let answers = try await topic.give(given, atMost: workers.count, within: Self.timeToTakeUp)
            return ControlResult(taken: answers.count { $0.refusal == nil }, workers: workers.count)
        }
    }

    private func controlTopic() throws -> ControlTopic {
        try ControlTopic(settings, timeout: Self.timeOfControls, log: log)
    }
}

extension ControlList.Order {
    fileprivate init(_ order: ControlOrder) {
        self.init(
            control: order.name, provider: order.provider,
            value: order.number.map { ControlPolicy.plain($0.value) } ?? order.level,
            worker: order.instance == nil ? nil : order.worker ?? order.instance, by: order.by,
            at: WallTime(milliseconds: order.at), until: order.until.map { WallTime(milliseconds: $0) })
    }
}
