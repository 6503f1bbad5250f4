import Testing

@testable import Kafka
@testable import WorkerRuntime

/// The reaction of both deliveries to a rejected record.
struct RefusalCureTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let error: KafkaError
        var wasAlone = false
        var isTruncated = false
        let cure: RefusalCure?

        var testDescription: String { "\(error.kind), alone \(wasAlone), truncated \(isTruncated)" }
    }

    private static let tooLarge = KafkaError(.recordTooLarge, code: 10, "MSG_SIZE_TOO_LARGE")

    static let tooLargeRecords = [
        Case(error: tooLarge, cure: .alone),
        Case(error: tooLarge, isTruncated: true, cure: .alone),
        Case(error: tooLarge, wasAlone: true, cure: .truncated),
        Case(error: tooLarge, wasAlone: true, isTruncated: true, cure: .later),
    ]

    /// TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PART, POLICY_VIOLATION and INVALID_RECORD.
    static let refusingTopics = [Int32(29), 3, 44, 87].flatMap { code in
        [false, true].map {
            Case(error: KafkaError(librdkafkaCode: code, doing: "delivery"), wasAlone: $0, cure: .later)
        }
    }

    /// Timeouts, purged records and failed producers. These are cured by time, the end of the transaction or another producer.
    static let unrelatedErrors =
        [KafkaError(.timedOut, "no answer"), KafkaError(librdkafkaCode: -152, doing: "delivery")].map {
            Case(error: $0, wasAlone: true, cure: nil)
        }
        + [.fatal, .fenced, .closed, .abortable, .retriable, .unreachable].map {
            Case(error: KafkaError($0, ""), cure: nil)
        }

    @Test(arguments: tooLargeRecords + refusingTopics + unrelatedErrors)
    func `Each rejection has one cure`(_ refused: Case) {
        let cure = RefusalCure(refused.error, wasAlone: refused.wasAlone, isTruncated: refused.isTruncated)
        #expect(cure == refused.cure)
    }
}
