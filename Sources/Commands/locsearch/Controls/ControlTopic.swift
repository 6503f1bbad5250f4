import Basics
import Foundation
import Logging
import QuotaSharing

/// The fleet topic for a person who controls workers: reads the orders in it, and publishes orders and questions.
struct ControlTopic {
    /// A worker that has answered.
    struct Worker: Sendable, Hashable {
        /// The name of its machine or its pod.
        var name: String
        /// The name that only this start of it has.
        var instance: String
        /// Why it does not take an order up; `nil` where it does.
        var refusal: String?
    }

    /// Workers look at their topic five times a second.
    static let timeToAnswer = Duration.seconds(2)

    private let client: FleetTopicClient
    private let history: Int64
    private let group: String

    /// - Parameters:
    ///   - timeout: how long the broker may say nothing before a call fails.
    ///   - history: how many of the newest records are read first.
    init(_ settings: Settings, timeout: Duration, history: Int64 = ControlTerms.history, log: Logger) throws {
        client = try FleetTopicClient(settings, timeout: timeout, log: log)
        self.history = history
        group = settings.text("kafka.groupId")
    }

    /// Reads which orders are in force: from the newest records, and from all of them only where those do not hold the state.
    func book() async throws -> ControlBook {
        let member = ControlMember(name: "", fleet: client.fleet, at: .now)
        try await client.read(newest: history) { extent in
            member.begin(extent, at: .now)
        } take: { message, offset in
            _ = member.read(Self.control(message), at: offset, now: .now)
        } needsOlder: {
            member.needsOlderRecords
        }
        var book = member.book
        book.removeOver(at: WallTime.now().milliseconds)
        return book
    }

    private static func control(_ message: FleetMessage?) -> ControlMessage? {
        if case .control(let control) = message { control } else { nil }
    }

    /// Returns why an order must not be given: it would bind nobody, or a worker would refuse it. `nil`: it may be given.
    /// - Parameters:
    ///   - workers: those that have answered.
    ///   - isLater: true where it counts for workers that start, too.
    ///   - hint: how to choose that.
    ///   - cure: what helps against a refusal; `nil`: nothing does.
    func refusal(of workers: [Worker], isLater: Bool, hint: String, cure: String? = nil) -> String? {
        guard !workers.isEmpty || isLater else {
            return """
                0 workers of the group \(group) answer, so nothing was changed: start them, or see whether they can read \
                topics.fleet; \(hint)
                """
        }
        let refusing = workers.filter { $0.refusal != nil }
        if refusing.isEmpty { return nil }

        // Most often all refuse it for one reason.
        let reasons = Dictionary(grouping: refusing) { $0.refusal ?? "" }.map { reason, workers in
            "\(Set(workers.map(\.name)).sorted().joined(separator: ", ")): \(reason)"
        }
        let cure = cure.map { "; \($0)" } ?? ""
        return "refused, so nothing was changed: \(reasons.sorted().joined(separator: "; "))\(cure)"
    }

    // MARK: - Asking and ordering

    /// Asks the workers of the fleet whether they are there, and whether they would take an order up.
    /// - Parameter most: as many answers are enough; `nil`: all that come within the time.
    func ask(_ order: ControlOrder? = nil, atMost most: Int? = nil) async throws -> [Worker] {
        try await publish(atMost: most ?? .max, within: Self.timeToAnswer) {
            $0.question = ControlMessage.Question(order: order)
        }
    }

    /// Gives an order.
    /// - Parameters:
    ///   - most: the number of workers that are to answer.
    ///   - time: how long they are waited for.
    /// - Returns: the workers that have answered by then.
    func give(_ order: ControlOrder, atMost most: Int, within time: Duration) async throws -> [Worker] {
        try await publish(atMost: most, within: time) { $0.order = order }
    }

    private func publish(
        atMost most: Int, within time: Duration, _ change: (inout ControlMessage) -> Void
    ) async throws -> [Worker] {
        var question = ControlMessage(sender: "locsearch controls \(UUID().uuidString)", fleet: client.fleet)
        change(&question)
        guard most > 0 else {
            try await client.send(.control(question))
            return []
        }

        let sender = question.sender
        var workers: [Worker] = []
        try await client.ask(.control(question), within: time) { message in
            if let control = Self.control(message), let answer = control.answer, answer.to == sender,
                !workers.contains(where: { $0.instance == control.sender })
            {
                workers.append(Worker(name: answer.worker, instance: control.sender, refusal: answer.refusal))
            }
            return workers.count >= most
        }
        return workers.sorted { ($0.name, $0.instance) < ($1.name, $1.instance) }
    }
}
