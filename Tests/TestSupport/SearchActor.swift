public import Basics
public import LocationSearch
public import ProviderCalls
public import QuotaSharing
internal import Synchronization

/// A `SearchWorker` with an actor of its own, which takes the place of a lane.
public actor SearchActor {
    private let executor: any SerialExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let taskExecutor: (any TaskExecutor)?
    private let make: @Sendable (_ owner: SearchActor) -> SearchWorker
    private var searches: [ProviderSearch?] = []

    public private(set) lazy var worker: SearchWorker = {
        let worker = make(self)
        worker.startTask = { [taskExecutor] in
            Task.immediate(executorPreference: taskExecutor) { await self.makeNextCall() }
        }
        return worker
    }()

    /// - Parameter timekeeper: timers on `executor`; `nil`: a task of `clock` for each timer.
    public init(
        executor: any SerialExecutor, policies: [ProviderID: ProviderPolicy] = [:], name: String = "",
        budgets: BudgetPolicy? = nil, clock: any MonotonicClock,
        timekeeper: (any Timekeeper & Sendable)? = nil, taskExecutor: (any TaskExecutor)? = nil,
        random: any RandomNumberGenerator & Sendable, observer: CallObserver = CallObserver()
    ) {
        self.executor = executor
        self.taskExecutor = taskExecutor
        make = { owner in
            SearchWorker(
                policies: policies, name: name, budgets: budgets, clock: clock,
                timekeeper: timekeeper ?? ClockTimekeeper(clock: clock, owner: owner), random: random,
                observer: observer)
        }
    }

    private func makeNextCall() async { await worker.makeNextCall() }

    // MARK: - Searches

    private final class Number: Sendable {
        let value = Atomic(-1)
    }

    /// Searches for a request, and waits for the report. Cancelling the task ends the search.
    public func report(
        on request: SearchRequest, at candidates: [any PlaceService], before deadline: Deadline,
        lifetime: RequestLifetime? = nil, context: RequestContext? = nil
    ) async -> SearchReport {
        let number = Number()
        return await withTaskCancellationHandler {
            _ = self  // see docs/internals/concurrency.md, 3
            return await withCheckedContinuation { continuation in
                let begun = begin(request, at: candidates, before: deadline, lifetime: lifetime, context: context) {
                    continuation.resume(returning: $0)
                }
                number.value.store(begun, ordering: .relaxed)
                if Task.isCancelled { cancel(begun) }
            }
        } onCancel: {
            Task { await self.cancel(number.value.load(ordering: .relaxed)) }
        }
    }

    /// Begins a search.
    /// - Returns: its number, for `cancel`.
    public func begin(
        _ request: SearchRequest, at candidates: [any PlaceService], before deadline: Deadline,
        lifetime: RequestLifetime? = nil, context: RequestContext? = nil, then: @escaping (SearchReport) -> Void
    ) -> Int {
        let search = ProviderSearch(
            request, at: candidates, by: worker, before: deadline, lifetime: lifetime, context: context,
            then: { then($0) })
        searches.append(search)
        search.begin()
        return searches.count - 1
    }

    public func cancel(_ number: Int) {
        if searches.indices.contains(number) { searches[number]?.cancel() }
    }

    // MARK: - The worker

    public var statuses: [ProviderStatus] { worker.statuses }

    public func prepare(for providers: [ProviderID]) { worker.prepare(for: providers) }

    public func apply(_ controls: LaneControls) { worker.apply(controls) }

    public func renewKey(of provider: ProviderID) { worker.renewKey(of: provider) }

    public func assign(_ assigned: [Int32], of partitions: Int) { worker.assign(assigned, of: partitions) }

    @discardableResult
    public func receive(_ news: FleetNews) -> Bool { worker.receive(news) }

    public func tick() -> FleetTick { worker.tick() }

    public func leave() -> [FleetMessage] { worker.leave() }
}

extension BudgetMember {
    /// Makes a member with one daily budget of Hot Pepper calls.
    public convenience init(name: String, calls: Int, reserve: BudgetReserve = .units(0), at now: Instant) {
        self.init(name: name, budgets: [Budget(.hotpepper, limit: calls, reserve: reserve)], at: now)
    }
}
