import Basics
import LocationSearch
import QuotaSharing
import Resilience
import TestSupport

@testable import ProviderCalls

/// Calls in the queue of one provider that has only the limits given by a test.
final class QueuedCalls {
    let queue: ProviderQueue
    private let time: VirtualTime

    init(
        rate: RateLimit? = nil, share: Double = 1, concurrency: ConcurrencyLimit.Configuration? = nil,
        budget: BudgetAccount? = nil, fairness: FairTerms = FairTerms(), time: VirtualTime
    ) {
        self.time = time
        var unlimited = ConcurrencyLimit.Configuration(maximum: 100_000)
        unlimited.isAdaptive = false
        let limits = ProviderLimits(
            .hotpepper, breaker: CircuitBreaker(), bucket: RateBucket(limit: rate, share: share, at: time.now),
            concurrency: ConcurrencyLimit(concurrency ?? unlimited, timekeeper: time),
            accounts: [budget].compactMap { $0 },
            timekeeper: time)
        queue = ProviderQueue(limits, timekeeper: time, fairness: fairness)
    }

    var limits: ProviderLimits { queue.limits }

    /// Waits for the grant of a call that may begin until `latest`, and has plenty of time then.
    func grant(
        in flow: Flow = .standard, for owner: RequestContext? = nil, startingBefore latest: Instant
    ) async throws(CallFailure) -> Grant {
        let patience = time.now.duration(to: latest)
        return try await queue.grant(
            for: owner ?? RequestContext(since: time.now, flow: flow),
            before: Deadline(time.now + patience * 100), lastCall: latest)
    }

    /// Makes a call that takes no time.
    func pass(in flow: Flow = .standard, startingBefore latest: Instant) async throws(CallFailure) {
        var grant = try await grant(in: flow, startingBefore: latest)
        _ = grant.begin()
    }

    /// Makes a call that takes no time, if it does not have to wait.
    func passAtOnce(_ requestClass: RequestClass = .interactive) -> Bool {
        let deadline = Deadline(time.now + .seconds(60))
        guard var grant = try? queue.grantAtOnce(requestClass, before: deadline, at: time.now) else { return false }
        _ = grant.begin()
        return true
    }

    func pause(for duration: Duration) {
        limits.bucket.pause(until: time.now + duration, at: time.now)
        limits.notePause(because: .providerRateLimit, at: time.now)
        queue.review()
    }
}

extension ProviderQueue {
    /// Waits in a task for the grant of a call.
    func grant(
        in group: Int = 0, for owner: RequestContext?, before deadline: Deadline, lastCall: Instant? = nil
    ) async throws(CallFailure) -> Grant {
        let requestClass = (owner?.flow ?? .standard).requestClass
        let grant = try grantAtOnce(requestClass, in: group, before: deadline, at: timekeeper.now)
        if let grant { return grant }

        // Safe, because tasks are cancelled on the thread of the queue's actor, too.
        nonisolated(unsafe) let queue = self
        nonisolated(unsafe) var (end, call): ((() -> Void)?, Call?)
        var refusal: CallFailure?
        await withTaskCancellationHandler {
            await withCheckedContinuation { task in
                unsafe end = { task.resume() }
                do throws(CallFailure) {
                    if Task.isCancelled { throw CallFailure(error: .timedOut, cause: .noTime) }
                    unsafe call = try enter(in: group, for: owner, before: deadline, lastCall: lastCall) { _ in
                        unsafe end.take()?()
                    }
                } catch {
                    refusal = error
                    unsafe end.take()?()
                }
            }
        } onCancel: {
            if let call = unsafe call { unsafe queue.leave(call) }
            unsafe end.take()?()
        }
        if let grant = unsafe call?.grant.take() { return grant }
        throw unsafe refusal ?? call?.refusal ?? CallFailure(error: .timedOut, cause: .noTime)
    }
}

/// The reason why a call was not granted.
enum CallEnding: Hashable {
    case tooLate(retryAfter: Duration?)
    case usedUp(retryAfter: Duration)
    case keptForInteractive(retryAfter: Duration)
    case cancelled

    init(_ failure: CallFailure) {
        let (text, retryAfter) = (failure.error.message, failure.error.retryAfter)
        self =
            if failure.cause == .noTime {
                .cancelled
            } else if text.contains("kept for interactive") {
                .keptForInteractive(retryAfter: retryAfter ?? .zero)
            } else if text.contains("is used up") {
                .usedUp(retryAfter: retryAfter ?? .zero)
            } else {
                .tooLate(retryAfter: retryAfter)
            }
    }
}
