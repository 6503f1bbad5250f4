import Basics
import LocationSearch
import Resilience
import TestSupport
import Testing

@testable import ProviderCalls
@testable import QuotaSharing

/// Which calls may begin.
struct CallAdmissionTests {
    private static let day = BudgetDay(label: "2026-11-23", end: .now + .seconds(3600))

    /// The last calls of a day are kept for interactive requests, so a batch request is refused and nothing is shut.
    @Test func batchRequestThatGetsNoneOfTheDaysCallsTripsNoBreaker() async throws {
        let (time, clock) = (VirtualTime(), ManualClock())
        let provider = ProviderID.hotpepper
        let member = BudgetMember(
            name: "m", budgets: [provider.rawValue: 10], reserves: [provider.rawValue: .calls(10)], at: time.now)
        let keeper = BudgetKeeper(member)
        let gate = try #require(keeper.gate(of: provider.rawValue, timekeeper: time))
        keeper.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: time.now)
        _ = keeper.tick([provider.rawValue: Self.day], at: time.now)

        let policy = ProviderPolicy(concurrency: 4)
        let admission = CallAdmission(
            provider: provider, breaker: CircuitBreaker(policy.breaker),
            limiter: RateLimiter(limit: nil, share: 1, timekeeper: time),
            concurrency: AdaptiveLimit(policy.concurrency, timekeeper: time), budget: gate)

        let batch = Caller(owner: RequestContext(since: clock.now, flow: Flow(.batch)))
        let times = CallTimes(deadline: Deadline(clock.now + .seconds(5)), lastCall: nil)
        let isAdmittedAtOnce = try admission.admit(as: .batch, before: times.deadline, at: clock.now).hasRoom
        #expect(!isAdmittedAtOnce)
        do throws(CallFailure) {
            _ = try await admission.waitForRoom(
                of: batch, within: times, permittedIn: admission.breaker.epoch, clock: clock)
            Issue.record("it got a call")
        } catch {
            #expect(error.error.code == .rateLimited)
            #expect(error.error.retryAfter ?? .zero > .seconds(3000))
            #expect(error.error.message.contains("kept for interactive requests"))
            #expect(!error.error.allowsAttempt)
            #expect(error.cause == .breakerOpen)
        }
        #expect(admission.breaker.state(at: clock.now) == .closed)

        // A person's call waits for the log only.
        member.setWaiting(1, of: 0)
        let message = try #require(keeper.tick([provider.rawValue: Self.day], at: time.now + .seconds(1)))
        member.read(message, at: 0, now: time.now + .seconds(1))
        let isInteractiveAdmitted = try admission.admit(before: times.deadline, at: clock.now).hasRoom
        #expect(isInteractiveAdmitted)
    }

    /// A call that waits for room, and what came of it.
    private final class WaitingCall {
        private let admission: CallAdmission
        private let caller: Caller
        private let clock: ManualClock
        private(set) var isAdmitted: Bool?

        init(_ admission: CallAdmission, of context: RequestContext, clock: ManualClock) {
            self.admission = admission
            self.clock = clock
            caller = Caller(owner: context)
        }

        func wait() async {
            let times = CallTimes(deadline: Deadline(clock.now + .seconds(5)), lastCall: nil)
            do throws(CallFailure) {
                _ = try await admission.waitForRoom(
                    of: caller, within: times, permittedIn: admission.breaker.epoch, clock: clock)
                isAdmitted = true
            } catch {
                isAdmitted = false
            }
        }
    }

    private func wait(for call: WaitingCall, on owner: isolated Owner) {
        Task.immediate(executorPreference: owner.time) {
            _ = owner
            await call.wait()
        }
    }

    /// The refusal is on its way to the batch call when an interactive request joins it.
    @Test func refusedBatchCallAsksAgainWhenAnInteractiveRequestHasJoinedIt() throws {
        let (time, clock) = (VirtualTime(), ManualClock())
        let provider = ProviderID.hotpepper

        try Owner(time).assumeIsolated { owner in
            let member = BudgetMember(
                name: "m", budgets: [provider.rawValue: 10], reserves: [provider.rawValue: .calls(10)], at: time.now)
            let keeper = BudgetKeeper(member)
            let gate = try #require(keeper.gate(of: provider.rawValue, timekeeper: time))
            keeper.begin(FleetTopicExtent(first: 0, end: 0, oldest: 0), at: time.now)

            let policy = ProviderPolicy(concurrency: 4)
            let admission = CallAdmission(
                provider: provider, breaker: CircuitBreaker(policy.breaker),
                limiter: RateLimiter(limit: nil, share: 1, timekeeper: time),
                concurrency: AdaptiveLimit(policy.concurrency, timekeeper: time), budget: gate)
            let context = RequestContext(since: clock.now, flow: Flow(.batch))
            let call = WaitingCall(admission, of: context, clock: clock)
            wait(for: call, on: owner)

            // The gate refuses the call, whose task has not gone on yet.
            _ = keeper.tick([provider.rawValue: Self.day], at: time.now)
            keeper.review(at: time.now)
            context.becomeInteractive()
            gate.promote(context)
            time.settle()
            #expect(call.isAdmitted == nil, "it waits again")

            let message = try #require(keeper.tick([provider.rawValue: Self.day], at: time.now + .seconds(1)))
            member.read(message, at: 0, now: time.now + .seconds(1))
            keeper.review(at: time.now + .seconds(1))
            time.settle()
            #expect(call.isAdmitted == true)
        }
    }
}
