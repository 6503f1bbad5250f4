import Basics
import LocationSearch
import Resilience
import TestSupport
import Testing

@testable import ProviderCalls
@testable import QuotaSharing

/// Requests under a daily budget.
extension SearchWorkerTests {
    /// A short day, because a worker ticks five times a second.
    private static let day = Duration.seconds(600)

    /// The log that a worker shares with others. Messages are in it at once.
    private final class BudgetLog {
        private let worker: SearchActor
        private var offset: Int64 = 0

        init(_ worker: SearchActor) { self.worker = worker }

        func append(_ message: FleetMessage) {
            let news = FleetNews(records: [FleetRecord(offset: offset, message: message)])
            _ = worker.enter { $0.receive(news) }
            offset += 1
        }

        /// Runs the worker's ticks.
        func tick() {
            let tick = worker.enter { $0.tick() }
            for message in tick.messages { append(message) }
            worker.time.schedule(at: worker.time.now + tick.nextTick) { self.tick() }
        }
    }

    private func budgeted(
        _ calls: Int, reserve: BudgetReserve = .units(0), _ change: (inout ProviderPolicy) -> Void = { _ in }
    ) -> (worker: SearchActor, log: BudgetLog) {
        var policy = ProviderPolicy(concurrency: 16)
        change(&policy)
        let begin = time.now
        let budgets = BudgetPolicy([Budget(.hotpepper, limit: calls, reserve: reserve)]) { now in
            let days = Int(begin.duration(to: now) / Self.day)
            let end = begin + Self.day * (days + 1)
            return [.hotpepper: [.day: BudgetPeriod(label: "2026-11-\(23 + days)", end: end)]]
        }
        let worker = SearchActor(
            time, policies: [.hotpepper: policy], name: "m", budgets: budgets,
            observer: CallObserver(
                onTransition: { [transitions] _, transition, cause in transitions.add(transition, cause: cause) },
                onBudget: { [transitions] in transitions.add($0, $1) }))
        _ = worker.enter { $0.receive(FleetNews(opened: FleetTopicExtent(first: 0, end: 0, oldest: 0))) }
        let log = BudgetLog(worker)
        time.schedule(at: time.now + .milliseconds(25)) { log.tick() }
        return (worker, log)
    }

    @Test func `Requests beyond the budget are rate limited until the next day`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = budgeted(3).worker
        for number in 0..<3 {
            #expect(try code(begin(worker, [service], request("\(number)")).finish()) == nil)
        }

        for number in 0..<3 {
            let report = try begin(worker, [service], request("later \(number)")).finish()
            #expect(code(report) == .rateLimited)
            guard case .failure(let error) = report.result else { return }
            #expect(error.retryAfter ?? .zero > .seconds(500))
            #expect(error.account == "hotpepper")
        }
        #expect(service.calls == 3)
        #expect(transitions.all.isEmpty)
        #expect(transitions.budgets == ["hotpepper is used up"])

        let status = try #require(worker.statuses.first)
        #expect(status.breakerReason == .budgetUsedUp)
        #expect(status.budgets.first?.limit == 3)
        #expect(status.budgets.first?.left == 0)

        time.run(for: Self.day)
        #expect(try code(begin(worker, [service], request("next day")).finish()) == nil)
        #expect(service.calls == 4)
    }

    @Test func `Every call counts also retries`() throws {
        let service = ScriptedService { $0 < 3 ? .failure(Self.failed) : .success(Self.found) }
        let worker = budgeted(100).worker
        #expect(try code(begin(worker, [service]).finish()) == nil)
        time.run(for: .seconds(3))
        #expect(service.calls == 3)
        #expect(worker.statuses.first?.budgets.first?.made == ["search/hotpepper": 3])
    }

    @Test func `A parked request continues when an operator raises the budget`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let (worker, log) = budgeted(1) { $0.whenOpen = .hold }
        #expect(try code(begin(worker, [service]).finish()) == nil)

        let held = begin(worker, [service], request("held"))
        time.run(for: .seconds(3))
        #expect(worker.statuses.first?.held == 1)
        let order = BudgetMessage.Order("hotpepper", period: "2026-11-23", limit: 5, time: "now")
        log.append(.budget(BudgetMessage(sender: "person", number: 1, order: order)))
        #expect(try code(held.finish(within: .seconds(3))) == nil)
        #expect(service.calls == 2)
    }

    /// The budget allows calls, but none of a batch request.
    @Test func `A batch request stays parked while the rest of the budget is kept`() throws {
        var tests = self
        tests.time = VirtualTime(timePerReading: .microseconds(1))
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = tests.budgeted(5, reserve: .units(5)) { $0.whenOpen = .hold }.worker
        let context = RequestContext(since: tests.time.now, flow: Flow(.batch, tenant: ""))
        let held = tests.begin(worker, [service], within: .seconds(2), context: context)

        tests.time.run(for: .seconds(20))
        #expect(worker.statuses.first?.held == 1)
        #expect(held.report == nil)
        #expect(service.calls == 0)
    }

    /// The next day's calls are used only for parked requests that have not expired.
    @Test func `A parked request that has expired by the next day is not called`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = budgeted(1) { $0.whenOpen = .hold }.worker
        #expect(try code(begin(worker, [service]).finish()) == nil)

        let lastCall = time.now + .seconds(120)
        let over = (0..<4).map { number in
            begin(worker, [service], request("over \(number)"), lastCall: lastCall)
        }
        // Another keyword, so that it shares no call with them.
        let lasting = begin(worker, [service], request("lasting", keyword: "udon"))
        time.run(for: .seconds(3))
        #expect(worker.statuses.first?.held == 5)
        time.run(for: Self.day)

        for search in over {
            let report = try search.finish(within: .zero)
            #expect(code(report) == .expired)
            #expect(report.attempts == 0)
        }
        #expect(try code(lasting.finish(within: .zero)) == nil)
        #expect(service.calls == 2)
    }

    @Test func `The next provider is used if the budget of the first is used up`() throws {
        let limited = ScriptedService(.hotpepper) { _ in .success(Self.found) }
        let other = ScriptedService(.googlePlaces) { _ in .success(Self.found) }
        let worker = budgeted(1).worker
        for number in 0..<3 {
            let report = try begin(worker, [limited, other], request("\(number)")).finish()
            #expect(code(report) == nil)
        }
        #expect(limited.calls == 1)
        #expect(other.calls == 2)
    }

    /// The call is made for both, so it may be one of those that are kept for interactive requests.
    @Test func `An interactive request that joins a waiting batch call may use the interactive reserve`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = budgeted(10, reserve: .units(10)).worker
        let batch = (0..<2).map { number in
            let context = RequestContext(since: time.now, flow: Flow(.batch))
            return begin(worker, [service], request("batch \(number)"), context: context)
        }
        #expect(worker.statuses.first?.shared == 1)
        let person = begin(worker, [service], request("person"))
        #expect(worker.statuses.first?.shared == 2)

        #expect(try code(person.finish(within: .seconds(3))) == nil)
        for search in batch { #expect(try code(search.finish(within: .zero)) == nil) }
        #expect(service.calls == 1)

        let later = RequestContext(since: time.now, flow: Flow(.batch))
        #expect(try code(ask(worker, [service], request("alone"), context: later)) == .rateLimited)
    }

    @Test func `The budget applies without a breaker`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let worker = budgeted(1) { $0.breaker.isEnabled = false }.worker
        for number in 0..<3 { try begin(worker, [service], request("\(number)")).finish() }
        #expect(service.calls == 1)
    }

    /// A call that a limiter rejects has not been made.
    @Test func `A refused call is not counted`() throws {
        let service = ScriptedService { _ in .success(Self.found) }
        let (worker, log) = budgeted(10) { $0.rateLimit = RateLimit(perSecond: 0.001) }
        #expect(try code(begin(worker, [service]).finish()) == .rateLimited)
        worker.enter { $0.assign([0], of: 1) }
        time.run(for: .seconds(3))
        #expect(worker.statuses.first?.budgets.first?.used == 0)
        for message in worker.enter({ $0.leave() }) { log.append(message) }
        #expect(worker.statuses.first?.budgets.first?.left == 10)
    }
}
