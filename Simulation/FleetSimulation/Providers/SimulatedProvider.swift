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
        /// The caller's event loop.
        let lane: ObjectIdentifier
        let keyword: String
        let priceClass: PriceClass
        /// The day of the budget, by the member's clock.
        let day: Int
        /// The day has begun in this millisecond.
        let isAtTurnOfDay: Bool
        /// The caller's breaker is open: no probe, but a call that must not be made.
        let isThroughOpenBreaker: Bool
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
    /// False once nothing goes wrong any more.
    var fails = true
    /// The calls whose answer is not given yet.
    private(set) var underway = 0
    private(set) var underwayByMember: [String: Int] = [:]
    /// The calls under way by what they cost, of each process.
    private var underwayByPrice: [String: [PriceClass: Int]] = [:]
    /// The pauses that lanes were asked for, and whose time is not over yet when they are told.
    private(set) var pauses: [Pause] = []
    private var quotaWindow = (number: -1, calls: 0)
    private let poisons: [String: FleetPlan.Poison]
    /// Called when a process reads an answer that ends it.
    var onCrash: (_ process: String, EventLoop, _ keyword: String) -> Void = { _, _, _ in }

    /// Returns whether the breaker of a process is open, and lets no probe through.
    var isBreakerOpen: (_ process: String, ProviderID) -> Bool = { _, _ in false }

    /// A time in which the provider wants no calls from a lane that it has told so.
    struct Pause {
        let lane: ObjectIdentifier
        let provider: ProviderID
        let time: Range<Instant>
    }

    init(_ simulation: Simulation, plan: FleetPlan, random: SeededGenerator) {
        self.simulation = simulation
        self.plan = plan
        self.random = random
        poisons = plan.poisons
    }

    /// True for a request whose answer ends the process that reads it.
    func isPoison(_ keyword: String) -> Bool { poisons[keyword] != nil }

    func forgetCalls() { calls = [] }

    /// The answer to one call.
    enum Answer {
        case after(Double, failure: SearchError?)
        case never
    }

    func take(
        _ keyword: String, as priceClass: PriceClass, of member: String, on loop: EventLoop,
        on day: (number: Int, left: Double)
    ) -> Answer {
        let provider = priceClass.provider
        // Wall clocks show whole milliseconds: a worker may think that the day before has not ended.
        let isAtTurn = FleetWorld.day - day.left < 0.001
        calls.append(
            Call(
                time: simulation.now, provider: provider, member: member, lane: ObjectIdentifier(loop),
                keyword: keyword, priceClass: priceClass, day: day.number, isAtTurnOfDay: isAtTurn,
                isThroughOpenBreaker: isBreakerOpen(member, provider)))
        if provider == .hotpepper, let pause = pauseOfQuota() { return .after(0.002, failure: Self.tooMany(pause)) }
        let usual = Double.random(in: plan.latency, using: &random)
        let time = poisons[keyword]?.seconds ?? usual
        // What goes wrong with one provider does not with the other.
        switch provider == .hotpepper ? mood : .usual {
        case .hangs: return .never
        case .fails: return .after(time, failure: Self.unavailable)
        case .usual: break
        }
        guard random.chance(plan.failures), fails else { return .after(time, failure: nil) }

        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .never
        case 1:
            let pause = Duration.milliseconds(Int.random(in: 200...3000, using: &random))
            return .after(time, failure: Self.tooMany(pause))
        default: return .after(time, failure: Self.unavailable)
        }
    }

    /// Counts a call against the provider's own quota.
    /// - Returns: the time until the next window where the quota is used up, in whole seconds as `Retry-After` has them.
    private func pauseOfQuota() -> Duration? {
        guard let quota = plan.quota else { return nil }
        let elapsed = simulation.elapsed / .seconds(1)
        let number = Int(elapsed / quota.window)
        if number != quotaWindow.number { quotaWindow = (number, 0) }
        quotaWindow.calls += 1
        guard quotaWindow.calls > quota.calls else { return nil }
        return .seconds((Double(number + 1) * quota.window - elapsed).rounded(.up))
    }

    /// Notes that a lane was asked for a pause.
    func notePause(of lane: EventLoop, by provider: ProviderID, for pause: Duration) {
        pauses.append(
            Pause(lane: ObjectIdentifier(lane), provider: provider, time: simulation.now..<simulation.now + pause))
    }

    private static func tooMany(_ pause: Duration) -> SearchError {
        SearchError(.rateLimited, "too often", retryAfter: pause, httpStatus: 429)
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

    func begin(by member: String, as priceClass: PriceClass) {
        underway += 1
        underwayByPrice[member, default: [:]][priceClass, default: 0] += 1
        underwayByMember[member, default: 0] += 1
    }

    func end(by member: String, as priceClass: PriceClass) {
        underway -= 1
        underwayByPrice[member, default: [:]][priceClass, default: 0] -= 1
        underwayByMember[member, default: 0] -= 1
    }
}

extension SimulatedProvider {
    /// The calls whose processes have not seen them end: those that were under way when their process was killed.
    func unfinished(as priceClass: PriceClass) -> Int {
        underwayByPrice.values.reduce(0) { $0 + ($1[priceClass] ?? 0) }
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
        guard id != .hotpepper else { return .hotpepper }
        // Requests with a text are charged as a search of that kind. Here a third of them counts for one without.
        let isText = (request.keyword?.utf8.last ?? 0) % 3 != 0
        return isText ? .textSearchPro : .nearbySearchPro
    }

    func call(
        for request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline
    ) async throws(SearchError) -> ProviderReply {
        let priceClass = priceClass(of: request, followUp: followUp)
        provider.begin(by: member, as: priceClass)
        defer { provider.end(by: member, as: priceClass) }
        let left = deadline.remaining(at: loop.now)

        let day = FleetWorld.dayOfBudget(at: loop.wallNow)
        switch provider.take(request.keyword ?? "", as: priceClass, of: member, on: loop, on: day) {
        case .after(let time, let failure) where .seconds(time) < left:
            await sleep(.seconds(time))
            if let failure {
                if let pause = failure.retryAfter, !Task.isCancelled {
                    provider.notePause(of: loop, by: id, for: pause)
                }
                throw failure
            }
            if let keyword = request.keyword, provider.isPoison(keyword), !Task.isCancelled { await crash(by: keyword) }
            return .answer(provider.answer(to: request.keyword ?? ""))
        case .after, .never:
            await sleep(left)
            throw .timedOut
        }
    }

    /// Ends the process. What called never goes on.
    private func crash(by keyword: String) async {
        provider.onCrash(member, loop, keyword)
        await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    /// Sleeps until the time is over or the call is given up.
    private func sleep(_ time: Duration) async {
        do throws(CancellationError) { try await loop.sleep(for: time) } catch {}
    }
}
