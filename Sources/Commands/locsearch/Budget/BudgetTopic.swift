internal import Basics
import Foundation
import LocationSearch
import Logging
import QuotaSharing

/// Accesses the fleet topic for commands: reads budgets, and publishes orders and questions.
struct BudgetTopic {
    private let client: FleetTopicClient
    private let history: Int64

    /// - Parameter timeout: how long a call waits for the broker before it fails.
    /// - Parameter history: how many of the newest records are read first.
    init(_ settings: Settings, timeout: Duration, history: Int64 = ReplicatedLogTerms.history, log: Logger) throws {
        client = try FleetTopicClient(settings, timeout: timeout, log: log)
        self.history = history
    }

    /// Reads the state of the budgets from the topic. It reads the newest records, and all records only if the newest
    /// do not contain the state.
    func ledger() async throws -> BudgetLedger {
        let member = BudgetMember(name: "", budgets: [], at: .now)
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

    /// Publishes an order, and waits until workers acknowledge it.
    /// - Parameters:
    ///   - most: the number of workers that should acknowledge it.
    ///   - time: how long to wait for them.
    /// - Returns: the number of workers that acknowledged it in time.
    func give(_ order: BudgetMessage.Order, to most: Int, within time: Duration) async throws -> Int {
        try await publish(BudgetMessage(sender: Self.makeSender(), number: 1, order: order), to: most, within: time)
    }

    /// Counts the workers that keep an account. Each of their event loops answers the question.
    /// - Parameter time: how long to wait for answers.
    /// - Returns: the number of workers that answered in time.
    func countKeepers(of account: String, within time: Duration) async throws -> Int {
        let message = BudgetMessage(sender: Self.makeSender(), number: 1, question: account)
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
