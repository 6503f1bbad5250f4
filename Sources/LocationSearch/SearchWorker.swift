public import Resilience

/// Asks providers on behalf of requests: candidates in turn, attempts with back-off, all within the one deadline.
///
/// An actor on the executor it is given: on a worker's event loop, a request passes through without a hop.
public actor SearchWorker: SearchWorking {
    private nonisolated let executor: any SerialExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let policies: [ProviderID: RetryPolicy]
    private let clock: any MonotonicClock
    private var random: any RandomNumberGenerator & Sendable

    /// - Parameter policies: by provider; one that is missing has the defaults.
    /// - Parameter random: for the jitter.
    public init(
        executor: any SerialExecutor, policies: [ProviderID: RetryPolicy] = [:],
        clock: any MonotonicClock = ContinuousClock(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.executor = executor
        self.policies = policies
        self.clock = clock
        self.random = random
    }

    public func report(
        on request: SearchRequest, from candidates: [any PlaceService], before deadline: Deadline
    ) async -> SearchReport {
        var report = SearchReport(result: .failure(.timedOut))
        for service in candidates {
            report.provider = service.id
            report.triedProviders.append(service.id)
            report.result = await ask(service, request, before: deadline, noting: &report)
            guard case .failure(let error) = report.result, error.allowsFallback, !Task.isCancelled else { break }
        }
        return report
    }

    /// One provider, until it answers or another attempt makes no sense.
    private func ask(
        _ service: any PlaceService, _ request: SearchRequest, before deadline: Deadline,
        noting report: inout SearchReport
    ) async -> Result<ProviderAnswer, SearchError> {
        let policy = policies[service.id] ?? RetryPolicy()
        var attempt = 0
        while true {
            let start = clock.now
            guard !deadline.hasPassed(at: start) else { return .failure(.timedOut) }
            attempt += 1
            report.attempts += 1
            let result: Result<ProviderAnswer, SearchError>
            do throws(SearchError) {
                result = .success(try await service.answer(request, before: deadline))
            } catch {
                result = .failure(error)
            }
            let now = clock.now
            report.upstream += start.duration(to: now)
            guard case .failure(let error) = result, error.allowsAttempt, !Task.isCancelled,
                let delay = policy.delay(
                    after: attempt, retryAfter: error.retryAfter, remaining: deadline.remaining(at: now),
                    using: &random)
            else { return result }
            // Cancelled while waiting: the caller knows why, the last failure stands.
            guard (try? await clock.sleep(until: now + delay, tolerance: nil)) != nil else { return result }
        }
    }
}

extension SearchError {
    /// Whether another provider may do better: this one failed for the moment, not for the request's own fault.
    var allowsFallback: Bool { code.isRetryable && code != .internal }
}
