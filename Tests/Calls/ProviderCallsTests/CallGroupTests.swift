import Basics
import LocationSearch
import Resilience
import TestSupport
import Testing

@testable import ProviderCalls
@testable import QuotaSharing

/// Price classes and methods with limits of their own, at one provider.
struct CallGroupTests {
    /// The searches of one loop, and the log of its budgets. A request's keyword is the price class of its call.
    private final class Loop {
        let time = VirtualTime()
        let worker: SearchActor
        let service = ScriptedService(
            .googlePlaces, priceClass: { PriceClass(rawValue: $0.keyword ?? "") ?? .textSearchPro }
        ) { _ in .success(ProviderAnswer(places: [])) }
        private var offset: Int64 = 0

        init(_ budgets: [Budget], _ change: (inout ProviderPolicy) -> Void = { _ in }) {
            var policy = ProviderPolicy(concurrency: 64)
            policy.sharesIdenticalCalls = false
            policy.share = .perProcess(loops: 1)
            change(&policy)
            let end = time.now + .seconds(86_400)
            let periods = BudgetPolicy(budgets) { _ in
                [
                    .googlePlaces: [
                        .day: BudgetPeriod(label: "2026-11-23", end: end),
                        .month: BudgetPeriod(label: "2026-11", end: end + .seconds(604_800)),
                    ]
                ]
            }
            worker = SearchActor(
                time, policies: [.googlePlaces: policy], name: "m", budgets: budgets.isEmpty ? nil : periods)
            guard !budgets.isEmpty else { return }
            _ = worker.enter { $0.receive(FleetNews(opened: FleetTopicExtent(first: 0, end: 0, oldest: 0))) }
            time.schedule(at: time.now) { [unowned self] in tick() }
        }

        private func tick() {
            let tick = worker.enter { $0.tick() }
            for message in tick.messages {
                let news = FleetNews(records: [FleetRecord(offset: offset, message: message)])
                _ = worker.enter { $0.receive(news) }
                offset += 1
            }
            time.schedule(at: time.now + tick.nextTick) { [unowned self] in self.tick() }
        }

        func begin(_ priceClass: PriceClass, of requestClass: RequestClass = .interactive, within: Double = 5)
            -> BegunSearch
        {
            let request = SearchRequest(
                requestID: "r", location: Coordinate(latitude: 35, longitude: 139), keyword: priceClass.rawValue)
            return worker.begin(
                request, at: [service], before: Deadline(time.now + .seconds(within)),
                context: RequestContext(since: time.now, flow: Flow(requestClass)))
        }

        /// Makes a search, and returns the account that refused it; `nil` if it was answered.
        func refusal(of priceClass: PriceClass) throws -> String? {
            guard case .failure(let error) = try begin(priceClass).finish().result else { return nil }
            return error.account ?? "\(error)"
        }

        func used(_ account: String) -> Int? {
            worker.statuses.first?.budgets.first { $0.budget.account == account }.map { $0.used }
        }
    }

    private static func money(_ dollars: Int, per span: Budget.Span = .month) -> Budget {
        var budget = Budget(.googlePlaces, limit: dollars * 1_000_000, per: span, unit: .money(currency: "USD"))
        budget.prices = [.textSearchPro: 32_000, .nearbySearchEnterprise: 35_000, .placeDetailsPro: 17_000]
        return budget
    }

    // MARK: - Budgets

    @Test func `A used-up price class leaves the others their calls`() throws {
        let loop = Loop([
            Budget(.googlePlaces, .priceClass(.textSearchPro), limit: 2, per: .month), Budget(.googlePlaces, limit: 5),
        ])
        for _ in 0..<2 { #expect(try loop.refusal(of: .textSearchPro) == nil) }
        #expect(try loop.refusal(of: .textSearchPro) == "google-places/text-search-pro/month")
        for _ in 0..<3 { #expect(try loop.refusal(of: .placeDetailsPro) == nil) }
        #expect(try loop.refusal(of: .placeDetailsPro) == "google-places")
        #expect(loop.service.calls == 5, "each call counted in all its accounts, and none in vain")
        loop.time.run(for: .seconds(3))
        #expect(loop.used("google-places") == 5)
        #expect(loop.used("google-places/text-search-pro/month") == 2)
    }

    @Test func `The provider counts as closed only while no class has a call left`() throws {
        let loop = Loop([Budget(.googlePlaces, .priceClass(.textSearchPro), limit: 1), Budget(.googlePlaces, limit: 2)])
        #expect(try loop.refusal(of: .textSearchPro) == nil)
        #expect(try loop.refusal(of: .textSearchPro) != nil)
        #expect(loop.worker.statuses.first?.breaker == .closed)
        #expect(try loop.refusal(of: .placeDetailsPro) == nil)
        #expect(try loop.refusal(of: .placeDetailsPro) != nil)
        #expect(loop.worker.statuses.first?.breakerReason == .budgetUsedUp)
    }

    @Test func `Money pays for the calls after the free ones`() throws {
        let allowance = Budget(
            .googlePlaces, .allowance(name: "text-search-pro", [.textSearchPro]), limit: 10, per: .month)
        let loop = Loop([Self.money(1), allowance])
        var answered = 0
        while try loop.refusal(of: .textSearchPro) == nil, answered < 100 { answered += 1 }
        #expect(answered == 10 + 1_000_000 / 32_000)
        #expect(try loop.refusal(of: .placeDetailsPro) == "google-places/month/usd", "8,000 millionths are left")
        loop.time.run(for: .seconds(3))
        #expect(loop.used("google-places/month/usd") == 31 * 32_000)
        #expect(loop.used("google-places/text-search-pro/free/month") == 10)
    }

    @Test func `A cheaper call is made with the rest that a dearer one leaves`() throws {
        let loop = Loop([Self.money(1)])
        var dear = 0
        while try loop.refusal(of: .nearbySearchEnterprise) == nil, dear < 100 { dear += 1 }
        #expect(dear == 28)
        #expect(try loop.refusal(of: .placeDetailsPro) == nil, "20,000 millionths were left")
        #expect(try loop.refusal(of: .placeDetailsPro) == "google-places/month/usd")
    }

    @Test func `A refused request is told the account that opens last`() throws {
        let loop = Loop([Budget(.googlePlaces, limit: 0), Budget(.googlePlaces, limit: 0, per: .month)])
        #expect(try loop.refusal(of: .textSearchPro) == "google-places/month")
    }

    // MARK: - Methods

    @Test func `A flood of one method leaves the other its whole rate`() throws {
        let loop = Loop([]) {
            $0.rateLimit = RateLimit(perSecond: 100, burst: 1)
            $0.methodLimits = [.searchText: RateLimit(perSecond: 10, burst: 1)]
        }
        var texts: [BegunSearch] = []
        var details: [BegunSearch] = []
        for _ in 0..<100 {
            for _ in 0..<10 { texts.append(loop.begin(.textSearchPro, within: 30)) }
            for _ in 0..<8 { details.append(loop.begin(.placeDetailsPro, within: 30)) }
            loop.time.run(for: .milliseconds(100))
        }
        func answered(_ searches: [BegunSearch]) -> Int {
            searches.count { if case .success? = $0.report?.result { true } else { false } }
        }
        #expect((95...101).contains(answered(texts)), "\(answered(texts)) of 10 a second in 10 s")
        #expect(answered(details) >= 780, "\(answered(details)) of 80 a second")
    }

    @Test func `A call that lacks nothing does not wait for the token of another method`() throws {
        let loop = Loop([]) { $0.methodLimits = [.searchText: RateLimit(perSecond: 1, burst: 1)] }
        let texts = (0..<2).map { _ in loop.begin(.textSearchPro) }
        loop.time.run(for: .milliseconds(100))
        let details = loop.begin(.placeDetailsPro)
        loop.time.run(for: .milliseconds(1))
        #expect(texts.map { $0.report == nil } == [false, true])
        #expect(details.report != nil)
    }

    @Test func `A method that must wait too long is refused by the rate limit`() throws {
        let loop = Loop([]) { $0.methodLimits = [.details: RateLimit(perSecond: 0.1, burst: 1)] }
        #expect(try loop.refusal(of: .placeDetailsPro) == nil)
        guard case .failure(let error) = try loop.begin(.placeDetailsPro).finish().result else {
            return #expect(Bool(false), "it was answered")
        }
        #expect(error.limit == .rate)
        #expect(error.retryAfter.map { (.seconds(8) ... .seconds(10)).contains($0) } == true)
        #expect(try loop.refusal(of: .textSearchPro) == nil)
    }
}
