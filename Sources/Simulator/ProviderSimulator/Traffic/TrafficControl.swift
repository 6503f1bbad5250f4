internal import Basics
internal import NIOCore
internal import Synchronization

/// Counts all requests and decides how they are treated. Each call holds its lock for well under a microsecond.
final class TrafficControl: Sendable {
    /// The decision about a request.
    struct Admission {
        var latency = LatencyDistribution.fixed(.zero)
        var fault: Fault?
        /// True if `enter` must be called before the request is served.
        var isGated = false
    }

    /// The counts of an API, or of all requests.
    struct Snapshot {
        let elapsedMilliseconds: Int
        let total: Meter
        let services: [(api: ProviderAPI, meter: Meter, gate: Gate)]
    }

    private struct Service {
        var profile: TrafficProfile
        var faults: [(fault: Fault, upTo: Double)] = []
        var gate = Gate()
        var meter = Meter()
    }

    private struct State {
        var services: [Service]
        var total = Meter()
        /// How often each fault with a limited number of repetitions has occurred, by the request's fingerprint.
        var faultsServed: [UInt64: Int] = [:]
        var since = NIODeadline.now()
    }
    private let state: Mutex<State>

    init(profile: TrafficProfile) {
        let services = ProviderAPI.allCases.map { _ in
            var service = Service(profile: profile)
            Self.apply(profile, to: &service)
            return service
        }
        state = Mutex(State(services: services))
    }

    /// Counts an arriving request. Call `finish` exactly once for it.
    /// - Parameters:
    ///   - plan: the fault that the request itself asks for.
    ///   - roll: a random number in 0..<1 that selects one of the profile's faults.
    func arrive(_ request: IncomingRequest, plan: FaultPlan?, roll: Double) -> Admission {
        state.withLock { state in
            let now = NIODeadline.now().uptimeNanoseconds
            let second = Int(WallTime.now().milliseconds / 1000)
            state.total.arrive(request.endpoint, second: second, nanoseconds: now)

            var admission = Admission()
            if let plan { admission.fault = Self.fault(of: plan, fingerprint: request.fingerprint, state: &state) }
            guard let api = request.endpoint.api else { return admission }

            state.services[api.rawValue].meter.arrive(request.endpoint, second: second, nanoseconds: now)
            let service = state.services[api.rawValue]
            admission.latency = service.profile.latency
            admission.isGated = service.gate.capacity != nil
            if admission.fault == nil { admission.fault = service.faults.first { roll < $0.upTo }?.fault }
            return admission
        }
    }

    /// Returns the fault of a plan; `nil` if it has occurred as often as the plan specifies.
    private static func fault(of plan: FaultPlan, fingerprint: UInt64, state: inout State) -> Fault? {
        guard let times = plan.times else { return plan.fault }
        if state.faultsServed.count > 65_536 { state.faultsServed.removeAll() }
        let served = state.faultsServed[fingerprint, default: 0]
        guard served < times else { return nil }
        state.faultsServed[fingerprint] = served + 1
        return plan.fault
    }

    /// Takes a permit to be served, or a position in the queue.
    /// - Parameter waiter: called from any thread once the request has a permit, if it has none at once.
    /// - Returns: `true` if the request has a permit.
    func enter(_ api: ProviderAPI, waiter: @escaping Gate.Waiter) -> Bool {
        state.withLock { $0.services[api.rawValue].gate.enter(waiter) }
    }

    /// Releases a permit.
    func leave(_ api: ProviderAPI) {
        for next in state.withLock({ $0.services[api.rawValue].gate.leave() }) { next() }
    }

    /// Counts a finished request. Must be called exactly once per arrival.
    /// - Parameter isAborted: true if the client disconnected before the answer was sent.
    func finish(_ endpoint: Endpoint, outcome: String, isAborted: Bool) {
        state.withLock { state in
            state.total.finish(outcome, isAborted: isAborted)
            if let api = endpoint.api { state.services[api.rawValue].meter.finish(outcome, isAborted: isAborted) }
        }
    }

    /// Counts an answer that the provider bills.
    func bill(_ endpoint: Endpoint, sku: String) {
        state.withLock { state in
            state.total.skus[sku, default: 0] += 1
            if let api = endpoint.api { state.services[api.rawValue].meter.skus[sku, default: 0] += 1 }
        }
    }

    // MARK: Control

    /// Changes the profiles of some APIs. `change` receives each current profile.
    /// - Throws: `SimulatorError.invalidConfiguration` if a result is not valid. No profile is changed then.
    func configure(_ apis: [ProviderAPI], change: (inout TrafficProfile) -> Void) throws(SimulatorError) {
        var profiles: [(ProviderAPI, TrafficProfile)] = []
        for api in apis {
            var profile = state.withLock { $0.services[api.rawValue].profile }
            change(&profile)
            try profile.validate()
            profiles.append((api, profile))
        }

        var admitted: [Gate.Waiter] = []
        state.withLock { state in
            for (api, profile) in profiles {
                Self.apply(profile, to: &state.services[api.rawValue])
                admitted += state.services[api.rawValue].gate.admitted()
            }
        }

        for next in admitted { next() }
    }

    private static func apply(_ profile: TrafficProfile, to service: inout Service) {
        service.profile = profile
        service.gate.capacity = profile.capacity
        var sum = 0.0
        service.faults = profile.faults.sorted { $0.key < $1.key }.compactMap { spelling, share in
            guard let fault = Fault(spelling) else { return nil }
            sum += share
            return (fault, sum)
        }
    }

    /// Returns the current profile of an API.
    func profile(of api: ProviderAPI) -> TrafficProfile { state.withLock { $0.services[api.rawValue].profile } }

    /// Resets the counters. Requests in flight are still counted.
    func reset() {
        state.withLock { state in
            state.total.reset()
            for index in state.services.indices { state.services[index].meter.reset() }
            state.faultsServed.removeAll()
            state.since = NIODeadline.now()
        }
    }

    func snapshot() -> Snapshot {
        state.withLock { state in
            let elapsed = NIODeadline.now() - state.since
            return Snapshot(
                elapsedMilliseconds: Int(elapsed.nanoseconds / 1_000_000), total: state.total,
                services: ProviderAPI.allCases.map { api in
                    (api, state.services[api.rawValue].meter, state.services[api.rawValue].gate)
                })
        }
    }
}
