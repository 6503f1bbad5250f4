import Basics
import LocationSearch
import Resilience
import Synchronization
import TestSupport
import Testing

@testable import ProviderCalls
@testable import QuotaSharing

/// Requests under a daily budget.
extension SearchWorkerTests {
    /// The log that a worker shares with others. Messages are in it at once.
    private actor BudgetLog {
        let worker: SearchActor
        let clock: ManualClock
        private var offset: Int64 = 0
        init(_ worker: SearchActor, clock: ManualClock) {
            self.worker = worker
            self.clock = clock
        }

        func append(_ message: FleetMessage) async {
            _ = await worker.receive(FleetNews(records: [FleetRecord(offset: offset, message: message)]))
            offset += 1
        }

        func tick() async {
            for message in await worker.tick().messages { await append(message) }
        }

        /// Runs the worker's ticks until a task is done.
        func serve<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async throws -> Value {
            let result = Mutex<Value?>(nil)
            let task = Task {
                let value = await body()
                result.withLock { $0 = value }
            }
            try await eventually("the request ends") {
                clock.advance(by: .milliseconds(25))
                await self.tick()
                return result.withLock { $0 != nil }
            }
            await task.value
            return try #require(result.withLock { $0 })
        }
    }

    private func budgeted(
        _ calls: Int, reserve: BudgetReserve = .units(0), _ change: (inout ProviderPolicy) -> Void = { _ in }
    ) async -> (SearchActor, BudgetLog) {
        var policy = ProviderPolicy(concurrency: 16)
        change(&policy)
        let begin = clock.now
        let budgets = BudgetPolicy([Budget(.hotpepper, limit: calls, reserve: reserve)]) { now in
            let hours = Int(begin.duration(to: now) / .seconds(3600))
            let end = begin + .seconds(3600 * (hours + 1))
            return [.hotpepper: [.day: BudgetPeriod(label: "2026-11-\(23 + hours)", end: end)]]
        }
        let worker = SearchActor(
            executor: loop, policies: [.hotpepper: policy], name: "m", budgets: budgets, clock: clock,
            taskExecutor: loop, random: SystemRandomNumberGenerator(),
            observer: CallObserver(
                onTransition: { [transitions] _, transition, cause in transitions.add(transition, cause: cause) },
                onBudget: { [transitions] in transitions.add($0, $1) }))
        _ = await worker.receive(FleetNews(opened: FleetTopicExtent(first: 0, end: 0, oldest: 0)))
        return (worker, BudgetLog(worker, clock: clock))
    }

    @Test func `Requests beyond the budget are rate limited until the next day`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let (worker, log) = await budgeted(3)
        for number in 0..<3 {
            #expect(code(try await log.serve { await self.ask(worker, [service], self.request("\(number)")) }) == nil)
        }

        for number in 0..<3 {
            let report = try await log.serve { await self.ask(worker, [service], self.request("later \(number)")) }
            #expect(code(report) == .rateLimited)
            guard case .failure(let error) = report.result else { return }
            #expect(error.retryAfter ?? .zero > .seconds(3500))
            #expect(error.account == "hotpepper")
        }
        #expect(service.calls == 3)
        #expect(transitions.all.isEmpty)
        #expect(transitions.budgets == ["hotpepper is used up"])

        let status = try #require(await worker.statuses.first)
        #expect(status.breakerReason == .budgetUsedUp)
        #expect(status.budgets.first?.limit == 3)
        #expect(status.budgets.first?.left == 0)

        clock.advance(by: .seconds(3600))
        #expect(code(try await log.serve { await self.ask(worker, [service], self.request("next day")) }) == nil)
        #expect(service.calls == 4)
    }

    @Test func `Every call counts also retries`() async throws {
        let service = ScriptedService { $0 < 3 ? .failure(Self.failed) : .success(Self.found) }
        let (worker, log) = await budgeted(100)
        #expect(code(try await log.serve { await self.ask(worker, [service]) }) == nil)
        for _ in 0..<60 {
            clock.advance(by: .milliseconds(50))
            await log.tick()
        }
        #expect(service.calls == 3)
        #expect(await worker.statuses.first?.budgets.first?.made == ["search/hotpepper": 3])
    }

    @Test func `A parked request continues when an operator raises the budget`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let (worker, log) = await budgeted(1) { $0.whenOpen = .hold }
        #expect(code(try await log.serve { await self.ask(worker, [service]) }) == nil)

        let held = Task { try await log.serve { await self.ask(worker, [service], self.request("held")) } }
        try await eventually("the request is held") { await worker.statuses.first?.held == 1 }
        let order = BudgetMessage.Order("hotpepper", period: "2026-11-23", limit: 5, time: "now")
        await log.append(.budget(BudgetMessage(sender: "person", number: 1, order: order)))
        #expect(code(try await held.value) == nil)
        #expect(service.calls == 2)
    }

    /// The next day's calls are used only for parked requests that have not expired.
    @Test func `A parked request that has expired by the next day is not called`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let (worker, log) = await budgeted(1) { $0.whenOpen = .hold }
        #expect(code(try await log.serve { await self.ask(worker, [service]) }) == nil)

        let lifetime = RequestLifetime(lastCall: clock.now + .seconds(120))
        let over = (0..<4).map { number in
            Task { await self.ask(worker, [service], self.request("over \(number)"), lifetime: lifetime) }
        }
        // Another keyword, so that it shares no call with them.
        let lasting = Task {
            try await log.serve { await self.ask(worker, [service], self.request("lasting", keyword: "udon")) }
        }
        try await eventually("the requests are held") { await worker.statuses.first?.held == 5 }
        clock.advance(by: .seconds(3600))

        for task in over {
            let report = await task.value
            #expect(code(report) == .expired)
            #expect(report.attempts == 0)
        }
        #expect(code(try await lasting.value) == nil)
        #expect(service.calls == 2)
    }

    @Test func `The next provider is used if the budget of the first is used up`() async throws {
        let limited = ScriptedService(.hotpepper) { _ in .success(Self.found) }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let (worker, log) = await budgeted(1)
        for number in 0..<3 {
            let report = try await log.serve { await self.ask(worker, [limited, other], self.request("\(number)")) }
            #expect(code(report) == nil)
        }
        #expect(limited.calls == 1)
        #expect(other.calls == 2)
    }

    /// The call is made for both, so it may be one of those that are kept for interactive requests.
    @Test func `An interactive request that joins a waiting batch call may use the interactive reserve`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let (worker, log) = await budgeted(10, reserve: .units(10))
        let batch = (0..<2).map { number in
            let context = RequestContext(since: clock.now, flow: Flow(.batch))
            return Task { await self.ask(worker, [service], self.request("batch \(number)"), context: context) }
        }
        try await eventually("a batch call waits, for both") { await worker.statuses.first?.shared == 1 }
        let person = Task { await self.ask(worker, [service], self.request("person")) }
        try await eventually("the person's request joins it") { await worker.statuses.first?.shared == 2 }

        #expect(code(try await log.serve { await person.value }) == nil)
        for task in batch { #expect(code(await task.value) == nil) }
        #expect(service.calls == 1)

        let later = RequestContext(since: clock.now, flow: Flow(.batch))
        #expect(code(await ask(worker, [service], request("alone"), context: later)) == .rateLimited)
    }

    @Test func `The budget applies without a breaker`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let (worker, log) = await budgeted(1) { $0.breaker.isEnabled = false }
        for number in 0..<3 { _ = try await log.serve { await self.ask(worker, [service], self.request("\(number)")) } }
        #expect(service.calls == 1)
    }

    /// A call that a limiter rejects has not been made.
    @Test func `A refused call is not counted`() async throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let (worker, log) = await budgeted(10) { $0.rateLimit = RateLimit(perSecond: 0.001) }
        #expect(code(try await log.serve { await self.ask(worker, [service]) }) == .rateLimited)
        await worker.assign([0], of: 1)
        for _ in 0..<60 {
            clock.advance(by: .milliseconds(50))
            await log.tick()
        }
        #expect(await worker.statuses.first?.budgets.first?.used == 0)
        for message in await worker.leave() { await log.append(message) }
        #expect(await worker.statuses.first?.budgets.first?.left == 10)
    }
}
