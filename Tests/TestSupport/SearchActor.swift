public import Basics
public import LocationSearch
public import ProviderCalls
public import QuotaSharing
internal import Synchronization

/// A `SearchWorker` under virtual time. The actor takes the place of a lane.
public actor SearchActor {
    public nonisolated let time: VirtualTime
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe time.asUnownedSerialExecutor() }

    private let make: @Sendable () -> SearchWorker
    private var searches: [ProviderSearch] = []

    private lazy var worker: SearchWorker = make()

    public init(
        _ time: VirtualTime, policies: [ProviderID: ProviderPolicy] = [:], name: String = "",
        budgets: BudgetPolicy? = nil, observer: CallObserver = CallObserver()
    ) {
        self.time = time
        make = {
            SearchWorker(
                policies: policies, name: name, budgets: budgets, clock: time, timekeeper: time,
                random: SplitMix64(state: 1), observer: observer)
        }
    }

    // MARK: - From the test's thread

    /// Calls the worker.
    public nonisolated func enter<T: Sendable>(_ body: (SearchWorker) throws -> T) rethrows -> T {
        // Safe, because the test's thread is the actor's, too.
        nonisolated(unsafe) let body = body
        return try VirtualTime.$current.withValue(time) { try assumeIsolated { try unsafe body($0.worker) } }
    }

    public nonisolated var statuses: [ProviderStatus] { enter(\.statuses) }

    /// Begins a search, and runs the jobs that are ready.
    public nonisolated func begin(
        _ request: SearchRequest, at candidates: [any PlaceService], before deadline: Deadline,
        lastCall: Instant? = nil, expiry: Instant? = nil, context: RequestContext? = nil
    ) -> BegunSearch {
        let report = Report()
        let deadlines = RequestDeadlines(deadline, lastCall: lastCall, expiry: expiry)
        let number = assumeIsolated { actor in
            let search = ProviderSearch(
                request, at: candidates, by: actor.worker, before: deadlines, context: context,
                then: { search in report.value.withLock { $0 = SearchReport(of: search) } })
            actor.searches.append(search)
            VirtualTime.$current.withValue(time) { search.begin() }
            return actor.searches.count - 1
        }
        time.settle()
        return BegunSearch(worker: self, number: number, ended: report)
    }

    fileprivate nonisolated func cancel(_ number: Int) { assumeIsolated { $0.searches[number].cancel() } }
}

/// The result of a search that has ended, and its cost.
public struct SearchReport: Sendable, Hashable {
    public let result: Result<ProviderAnswer, SearchError>
    public let triedProviders: [ProviderID]
    private let cost: CallCost

    fileprivate init(of search: ProviderSearch) {
        (result, triedProviders, cost) = (search.takeResult(), search.tried, search.cost)
    }

    public var provider: ProviderID? { triedProviders.last }
    public var upstream: Duration { cost.upstream }
    public var attempts: Int { cost.attempts }
    public var givenUp: Int { cost.givenUp }
}

private final class Report: Sendable {
    let value = Mutex<SearchReport?>(nil)
}

/// A search that a test began.
public struct BegunSearch: Sendable {
    fileprivate let worker: SearchActor
    fileprivate let number: Int
    fileprivate let ended: Report

    /// The search's report; `nil` before its end.
    public var report: SearchReport? { ended.value.withLock { $0 } }

    /// Lets time pass until the search has ended, for at most `duration`.
    /// - Throws: `NotInTime` if it has not ended by then.
    @discardableResult
    public func finish(within duration: Duration = .seconds(60)) throws -> SearchReport {
        worker.time.run(for: duration) { report != nil }
        guard let report else { throw NotInTime(description: "not within \(duration): the search ends") }
        return report
    }

    public func cancel() { worker.cancel(number) }
}

extension BudgetMember {
    /// Makes a member with one daily budget of Hot Pepper calls.
    public convenience init(name: String, calls: Int, reserve: BudgetReserve = .units(0), at now: Instant) {
        self.init(name: name, budgets: [Budget(.hotpepper, limit: calls, reserve: reserve)], at: now)
    }
}
