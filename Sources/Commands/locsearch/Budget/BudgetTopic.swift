internal import Basics
import Foundation
import LocationSearch
import Logging
import QuotaSharing

/// The fleet topic for a person: reads the budgets in it, and publishes orders and questions.
struct BudgetTopic {
    private let client: FleetTopicClient
    private let history: Int64

    /// The digest of the fleet whose budgets are meant.
    var fleet: String { client.fleet }

    /// - Parameter timeout: how long the broker may say nothing before a call fails.
    /// - Parameter history: how many of the newest records are read first.
    init(_ settings: Settings, timeout: Duration, history: Int64 = BudgetTerms.history, log: Logger) throws {
        client = try FleetTopicClient(settings, timeout: timeout, log: log)
        self.history = history
    }

    /// Reads what the topic says of budgets: its newest records, and all of them only where those do not hold the state.
    func ledger() async throws -> BudgetLedger {
        let member = BudgetMember(name: "", budgets: [:], fleet: fleet, at: .now)
        try await client.read(newest: history) { extent in
            member.begin(extent, at: .now)
        } take: { message, offset in
            member.read(Self.budget(message), at: offset, now: .now)
        } needsOlder: {
            member.needsOlderRecords
        }
        return member.ledger
    }

    private static func budget(_ message: FleetMessage?) -> BudgetMessage? {
        if case .budget(let budget) = message { budget } else { nil }
    }

    /// Gives an order, and waits for workers to acknowledge that they go by it.
    /// - Parameters:
    ///   - most: the number of workers that are to acknowledge it.
    ///   - time: how long they are waited for.
    /// - Returns: how many have by then.
    func give(_ order: BudgetMessage.Order, to most: Int, within time: Duration) async throws -> Int {
        try await publish(BudgetMessage(sender: Self.makeSender(), number: 1, order: order), to: most, within: time)
    }

    /// Asks which workers keep a budget of a provider. Each of their loops answers.
    /// - Parameter time: how long answers are waited for.
    /// - Returns: how many have answered by then.
    func countKeepers(of provider: ProviderID, within time: Duration) async throws -> Int {
        let question = BudgetMessage.Question(provider: provider.rawValue, fleet: fleet)
        let message = BudgetMessage(sender: Self.makeSender(), number: 1, question: question)
        return try await publish(message, to: .max, within: time)
    }

    /// - Returns: the number of workers that have answered, at most `most`.
    private func publish(_ message: BudgetMessage, to most: Int, within time: Duration) async throws -> Int {
        var workers: Set<Substring> = []
        try await client.ask(.budget(message), within: most > 0 ? time : .zero) { answer in
            if let answer = Self.budget(answer), answer.answers == message.sender {
                workers.insert(answer.sender[..<(answer.sender.lastIndex(of: "-") ?? answer.sender.endIndex)])
            }
            return workers.count >= most
        }
        return workers.count
    }

    private static func makeSender() -> String { "locsearch budget \(UUID().uuidString)" }
}
