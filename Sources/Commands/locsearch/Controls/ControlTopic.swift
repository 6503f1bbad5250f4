import Basics
import Foundation
import Logging
import QuotaSharing

/// Accesses the fleet topic for commands that control workers: reads the orders in it, and publishes orders and
/// questions.
struct ControlTopic {
    /// A worker that answered.
    struct Worker: Sendable, Hashable {
        /// The name of its machine or pod.
        var name: String
        /// The unique name of this worker process.
        var instance: String
        /// Why it would refuse the order; `nil` if it accepts it.
        var refusal: String?
    }

    /// Workers read the fleet topic five times a second.
    static let timeToAnswer = Duration.seconds(2)

    private let client: FleetTopicClient
    private let group: String

    /// - Parameter timeout: how long a call waits for the broker before it fails.
    init(_ settings: Settings, timeout: Duration, log: Logger) throws {
        client = try FleetTopicClient(settings, timeout: timeout, log: log)
        group = settings.text("kafka.groupId")
    }

    /// Reads the orders in force. It reads the newest records, and all records only if the newest do not contain the
    /// state.
    func book() async throws -> ControlBook {
        let member = ControlMember(name: "", at: .now)
        try await client.read(newest: ReplicatedLogTerms.history) { extent in
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

    /// Returns why an order must not be published: no worker would apply it, or a worker would refuse it. `nil`: it may
    /// be published.
    /// - Parameters:
    ///   - workers: the workers that answered.
    ///   - isLater: true if the order may be published without a running worker, for workers that start later.
    ///   - hint: how the user can choose that.
    ///   - cure: how to avoid a refusal by a worker; `nil` if that is not possible.
    func refusal(of workers: [Worker], isLater: Bool, hint: String, cure: String? = nil) -> String? {
        guard !workers.isEmpty || isLater else {
            return """
                0 workers of the group \(group) respond, so nothing was changed: start them, or check whether they can \
                read topics.fleet; \(hint)
                """
        }
        let refusing = workers.filter { $0.refusal != nil }
        if refusing.isEmpty { return nil }

        // Usually all workers refuse for the same reason.
        let reasons = Dictionary(grouping: refusing) { $0.refusal ?? "" }.map { reason, workers in
            "\(Set(workers.map(\.name)).sorted().joined(separator: ", ")): \(reason)"
        }
        let cure = cure.map { "; \($0)" } ?? ""
        return "refused, so nothing was changed: \(reasons.sorted().joined(separator: "; "))\(cure)"
    }

    // MARK: - Questions and orders

    /// Asks which workers of the fleet are running, and whether they would accept an order.
    /// - Parameter most: the number of answers to wait for; `nil`: waits until the timeout for all answers.
    func ask(_ order: ControlOrder? = nil, atMost most: Int? = nil) async throws -> [Worker] {
        try await publish(atMost: most ?? .max, within: Self.timeToAnswer) {
            $0.question = ControlMessage.Question(order: order)
        }
    }

    /// Publishes an order.
    /// - Parameters:
    ///   - most: the number of workers that should answer.
    ///   - time: how long to wait for them.
    /// - Returns: the workers that answered in time.
    func give(_ order: ControlOrder, atMost most: Int, within time: Duration) async throws -> [Worker] {
        try await publish(atMost: most, within: time) { $0.order = order }
    }

    private func publish(
        atMost most: Int, within time: Duration, _ change: (inout ControlMessage) -> Void
    ) async throws -> [Worker] {
        var question = ControlMessage(sender: "locsearch controls \(UUID().uuidString)")
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
