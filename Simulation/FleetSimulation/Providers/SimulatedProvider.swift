import Basics
import EventLoop
import LocationSearch
import ProviderCalls
import Resilience
import SimulatedLoop

/// The providers that all members of a fleet ask, with an exact ledger of the calls, each of which costs money.
final class SimulatedProvider {
    /// One call, from the moment at which it was made.
    struct Call {
        /// The simulation's time.
        let time: Instant
        let provider: ProviderID
        let member: String
        let keyword: String
        /// The day of the budget, by the member's clock.
        let day: Int
        /// The day had just begun. The worker looked at its clock a few milliseconds before, which may have been the day before.
        let isAtTurnOfDay: Bool
    }

    enum Mood {
        case usual
        /// It answers nothing.
        case hangs
        /// It answers every call with 503.
        case fails
    }

    private let simulation: Simulation
    private let plan: FleetPlan
    private var random: SeededGenerator
    private(set) var calls: [Call] = []
    var mood = Mood.usual
    /// The calls whose answer is not given yet.
    private(set) var underway = 0
    private(set) var underwayByMember: [String: Int] = [:]

    init(_ simulation: Simulation, plan: FleetPlan, random: SeededGenerator) {
        self.simulation = simulation
        self.plan = plan
        self.random = random
    }

    func forgetCalls() { calls = [] }

    /// The answer to one call.
    enum Answer {
        case after(Double, failure: SearchError?)
        case never
    }

    func take(
        _ keyword: String, by provider: ProviderID, of member: String, on day: (number: Int, left: Double)
    ) -> Answer {
        let isAtTurn = FleetWorld.day - day.left < 0.005
        calls.append(
            Call(
                time: simulation.now, provider: provider, member: member, keyword: keyword, day: day.number,
                isAtTurnOfDay: isAtTurn))
        let time = Double.random(in: plan.latency, using: &random)
        // What goes wrong with one provider does not with the other.
        switch provider == .hotpepper ? mood : .usual {
        case .hangs: return .never
        case .fails: return .after(time, failure: Self.unavailable)
        case .usual: break
        }
        guard random.chance(plan.failures) else { return .after(time, failure: nil) }

        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .never
        case 1:
            let pause = Duration.milliseconds(Int.random(in: 200...3000, using: &random))
            return .after(time, failure: SearchError(.rateLimited, "too often", retryAfter: pause, httpStatus: 429))
        default: return .after(time, failure: Self.unavailable)
        }
    }

    private static var unavailable: SearchError {
        SearchError(.upstreamUnavailable, "not available", httpStatus: 503)
    }

    func answer(to keyword: String) -> ProviderAnswer {
        guard plan.isLarge(keyword) else { return ProviderAnswer() }
        return ProviderAnswer(attributions: [Self.largeText])
    }

    /// Made once, because it is larger than all else that a schedule has.
    private static let largeText = String(repeating: "*", count: FleetPlan.largeBytes)

    func begin(by member: String) {
        underway += 1
        underwayByMember[member, default: 0] += 1
    }

    func end(by member: String) {
        underway -= 1
        underwayByMember[member, default: 0] -= 1
    }
}

/// The provider as the lanes of one process reach it.
struct SimulatedPlaces: PlaceService, @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    let id: ProviderID
    let provider: SimulatedProvider
    let member: String
    let loop: EventLoop

    func refusal(of request: SearchRequest) -> SearchError? { nil }

    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass {
        id == .hotpepper ? .hotpepper : .nearbySearchPro
    }

    func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        provider.begin(by: member)
        defer { provider.end(by: member) }
        let left = deadline.remaining(at: loop.now)

        let day = FleetWorld.dayOfBudget(at: loop.wallNow)
        switch provider.take(request.keyword ?? "", by: id, of: member, on: day) {
        case .after(let time, let failure) where .seconds(time) < left:
            await sleep(.seconds(time))
            if let failure { throw failure }
            return .answer(provider.answer(to: request.keyword ?? ""))
        case .after, .never:
            await sleep(left)
            throw .timedOut
        }
    }

    /// Sleeps until the time is over or the call is given up.
    private func sleep(_ time: Duration) async {
        do throws(CancellationError) { try await loop.sleep(for: time) } catch {}
    }
}
