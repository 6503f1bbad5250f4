import Basics
import TestSupport
import Testing

@testable import Resilience

struct RetryPolicyTests {
    private let now = Instant.now

    static let decisions: [(failure: RetryPolicy.Failure, gaveUp: RetryPolicy.Reason?)] = [
        (.init(attempt: 1, allowsAttempt: true, remaining: .seconds(5)), nil),
        (.init(attempt: 2, allowsAttempt: true, remaining: .seconds(5)), nil),
        (.init(attempt: 3, allowsAttempt: true, remaining: .seconds(5)), .attemptsSpent),
        (.init(attempt: 1, allowsAttempt: false, remaining: .seconds(5)), .notRetryable),
        (.init(attempt: 1, allowsAttempt: true, remaining: .zero), .noTime),
        (.init(attempt: 1, allowsAttempt: true, remaining: .seconds(-1)), .noTime),
        (.init(attempt: 1, allowsAttempt: true, retryAfter: .seconds(6), remaining: .seconds(5)), .noTime),
        (.init(attempt: 1, allowsAttempt: true, retryAfter: .seconds(4), remaining: .seconds(5)), nil),
        (
            .init(
                attempt: 1, allowsAttempt: true, retryAfter: .seconds(4), remaining: .seconds(5),
                expectedAttempt: .milliseconds(1500)), .noTime
        ),
        (.init(attempt: 1, allowsAttempt: true, remaining: .seconds(1), expectedAttempt: .seconds(2)), .noTime),
    ]

    @Test(arguments: decisions)
    func `The policy retries only if it may help and the deadline allows it`(
        failure: RetryPolicy.Failure, gaveUp: RetryPolicy.Reason?
    ) {
        let budget = RetryBudget()
        var random = SplitMix64(state: 1)
        for _ in 0..<200 {
            var fresh = budget
            let decision = RetryPolicy().decide(after: failure, budget: &fresh, at: now, using: &random)
            switch decision {
            case .giveUp(let reason):
                #expect(reason == gaveUp)
                #expect(fresh.statistics == budget.statistics, "what is not retried costs no budget")
            case .retry(let delay):
                #expect(gaveUp == nil)
                #expect(delay + failure.expectedAttempt <= failure.remaining)
                #expect(delay >= failure.retryAfter ?? .zero)
            }
        }
    }

    @Test func `A policy without a retry budget never retries`() {
        var configuration = RetryBudget.Configuration()
        configuration.minimumPerSecond = 0
        var (budget, random) = (RetryBudget(configuration), SplitMix64(state: 1))
        let failure = RetryPolicy.Failure(attempt: 1, allowsAttempt: true, remaining: .seconds(5))
        #expect(RetryPolicy().decide(after: failure, budget: &budget, at: now, using: &random) == .giveUp(.budgetSpent))
        #expect(budget.statistics.refused == 1)
    }

    // MARK: - Budget

    static let budgets: [(ratio: Double, perSecond: Double, requests: Int, retries: Int)] = [
        (0.2, 0, 1000, 200), (0.2, 1, 1000, 200), (0.2, 1, 10, 10), (0.2, 1, 0, 10), (0, 0, 1000, 0), (1, 0, 50, 50),
    ]

    @Test(arguments: budgets)
    func `The retry budget is a share of the window's requests`(
        ratio: Double, perSecond: Double, requests: Int, retries: Int
    ) {
        var configuration = RetryBudget.Configuration()
        (configuration.ratio, configuration.minimumPerSecond) = (ratio, perSecond)
        var budget = RetryBudget(configuration)
        for _ in 0..<requests { budget.noteRequest(at: now) }
        let made = (0..<2000).count { _ in budget.withdraw(at: now) }
        #expect(made == retries)
        #expect(budget.statistics == .init(requests: requests, retries: retries, refused: 2000 - retries))
        // After the window has passed, its requests allow no more retries.
        let later = (0..<2000).count { _ in budget.withdraw(at: now + .seconds(11)) }
        #expect(later == Int(perSecond * 10))
    }

    /// The rule holds for any period of a window's length; its buckets shorten the window by a tenth at most.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `The retry budget keeps retries of an outage to its share`(seed: UInt64) {
        var configuration = RetryBudget.Configuration()
        configuration.minimumPerSecond = 0
        var (budget, random) = (RetryBudget(configuration), SplitMix64(state: seed))
        var (requests, retries): ([Duration], [Duration]) = ([], [])
        var time = Duration.zero
        while time < .seconds(60) {
            time += .milliseconds(Int.random(in: 0...20, using: &random))
            requests.append(time)
            budget.noteRequest(at: now + time)
            for _ in 0..<2 where budget.withdraw(at: now + time) { retries.append(time) }
        }
        for end in retries {
            let window = (end - .seconds(10))...end
            let (asked, again) = (requests.count(where: window.contains), retries.count(where: window.contains))
            #expect(Double(again) <= 0.2 * Double(asked) * 1.15 + 1, "\(again) of \(asked) up to \(end)")
        }
        #expect(Double(retries.count) > 0.18 * Double(requests.count))
    }
}
