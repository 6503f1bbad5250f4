import Basics
import EventLoop
import LocationSearch
import ProviderCalls
import Resilience
import SimulatedLoop

/// The providers of the fleet, with an exact ledger of the calls, each of which costs money.
final class SimulatedProvider {
    /// One call, as recorded when it was made.
    struct Call {
        /// The simulation's time.
        let time: Instant
        let provider: ProviderID
        let member: String
        /// The caller's event loop.
        let lane: ObjectIdentifier
        let keyword: String
        let priceClass: PriceClass
        /// The number of the budget day, by the member's clock.
        let day: Int
        /// True if the day began in this millisecond.
        let isAtTurnOfDay: Bool
        /// True if the caller's breaker is open and this is no probe: the call must not be made.
        let isThroughOpenBreaker: Bool
    }

    enum Mood {
        case usual
        /// The provider does not answer.
        case hangs
        /// The provider answers every call with 503.
        case fails
    }

    private let simulation: Simulation
    private let plan: FleetPlan
    private var random: SeededGenerator
    private(set) var calls: [Call] = []
    var mood = Mood.usual
    /// False after the last fault.
    var fails = true
    /// The number of calls in flight.
    private(set) var underway = 0
    private(set) var underwayByMember: [String: Int] = [:]
    /// The calls in flight of each process, by price class.
    private var underwayByPrice: [String: [PriceClass: Int]] = [:]
    /// The pauses that lanes were asked for, as far as they were not over when the answer arrived.
    private(set) var pauses: [Pause] = []
    private var quotaWindow = (number: -1, calls: 0)
    private let poisons: [String: FleetPlan.Poison]
    /// Called when a process reads an answer that crashes it.
    var onCrash: (_ process: String, EventLoop, _ keyword: String) -> Void = { _, _, _ in }

    /// Returns whether the breaker of a process is open, and lets no probe through.
    var isBreakerOpen: (_ process: String, ProviderID) -> Bool = { _, _ in false }

    /// A period in which the provider wants no calls from a lane.
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

    /// Returns true for a request whose answer crashes the process that reads it.
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
        // Wall clocks show whole milliseconds: for a worker, the previous day may not have ended yet.
        let isAtTurn = FleetWorld.day - day.left < 0.001
        calls.append(
            Call(
                time: simulation.now, provider: provider, member: member, lane: ObjectIdentifier(loop),
                keyword: keyword, priceClass: priceClass, day: day.number, isAtTurnOfDay: isAtTurn,
                isThroughOpenBreaker: isBreakerOpen(member, provider)))
        if provider == .hotpepper, let pause = pauseOfQuota() { return .after(0.002, failure: Self.tooMany(pause)) }
        let usual = Double.random(in: plan.latency, using: &random)
        let time = poisons[keyword]?.seconds ?? usual
        // Faults of one provider do not affect the other.
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
    /// - Returns: If the quota is used up, the time until the next window, in whole seconds as in `Retry-After`.
    private func pauseOfQuota() -> Duration? {
        guard let quota = plan.quota else { return nil }
        let elapsed = simulation.elapsed / .seconds(1)
        let number = Int(elapsed / quota.window)
        if number != quotaWindow.number { quotaWindow = (number, 0) }
        quotaWindow.calls += 1
        guard quotaWindow.calls > quota.calls else { return nil }
        return .seconds((Double(number + 1) * quota.window - elapsed).rounded(.up))
    }

    /// Records that a lane was asked for a pause.
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

    /// Made once, because it is larger than all other data of a schedule.
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
    /// Returns the number of calls whose processes did not see them end, because they were killed first.
    func unfinished(as priceClass: PriceClass) -> Int {
        underwayByPrice.values.reduce(0) { $0 + ($1[priceClass] ?? 0) }
    }
}

/// The provider as seen by the lanes of one process.
struct SimulatedPlaces: PlaceService, @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    let id: ProviderID
    let provider: SimulatedProvider
    let member: String
    let loop: EventLoop

    func refusal(of request: SearchRequest) -> SearchError? { nil }

    func priceClass(of request: SearchRequest, followUp: FollowUpCall?) -> PriceClass {
        guard id != .hotpepper else { return .hotpepper }
        // Requests with a text are priced as text searches. Here a third of them is priced as nearby searches.
        let isText = (request.keyword?.utf8.last ?? 0) % 3 != 0
        return isText ? .textSearchPro : .nearbySearchPro
    }

    func begin(
        _ request: SearchRequest, followUp: FollowUpCall?, before deadline: Deadline,
        then end: @escaping ProviderCompletion
    ) -> (any Cancellable)? {
        let (priceClass, keyword) = (priceClass(of: request, followUp: followUp), request.keyword ?? "")
        provider.begin(by: member, as: priceClass)
        let left = deadline.remaining(at: loop.now)
        let day = FleetWorld.dayOfBudget(at: loop.wallNow)
        let answer = provider.take(keyword, as: priceClass, of: member, on: loop, on: day)

        let call = SimulatedCall(on: loop) { isCancelled in
            guard !isCancelled, case .after(let time, let failure) = answer, .seconds(time) < left else {
                provider.end(by: member, as: priceClass)
                return end(.failure(.timedOut))
            }
            if failure == nil, provider.isPoison(keyword) {
                // Ends the process, which never sees the end of the call.
                return provider.onCrash(member, loop, keyword)
            }
            if let pause = failure?.retryAfter { provider.notePause(of: loop, by: id, for: pause) }
            provider.end(by: member, as: priceClass)
            end(failure.map { .failure($0) } ?? .success(.answer(provider.answer(to: keyword))))
        }
        if case .after(let time, _) = answer {
            call.end(after: min(.seconds(time), left))
        } else {
            call.end(after: left)
        }
        return call
    }
}

/// A call in flight, which ends at its time or soon after it was cancelled.
private final class SimulatedCall: Cancellable, @unchecked Sendable {
    // Sendable by hand: a simulation has one thread.

    private let loop: EventLoop
    private var onEnd: ((_ isCancelled: Bool) -> Void)?
    private var timer: TimerID?

    init(on loop: EventLoop, then onEnd: @escaping (_ isCancelled: Bool) -> Void) {
        (self.loop, self.onEnd) = (loop, onEnd)
    }

    func end(after time: Duration, isCancelled: Bool = false) {
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(at: loop.now + time) { [self] in onEnd.take()?(isCancelled) }
    }

    func cancel() { if onEnd != nil { end(after: .zero, isCancelled: true) } }
}
