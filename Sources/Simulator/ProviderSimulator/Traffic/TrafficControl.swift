internal import Basics
internal import NIOCore
internal import Synchronization

/// Counts all requests and decides how they are treated. All event loops share it. Each call holds its lock for well
/// under a microsecond.
final class TrafficControl: Sendable {
    /// An arriving request.
    struct Arrival {
        let endpoint: Endpoint
        /// A fingerprint of everything except the key.
        let fingerprint: UInt64
        let keyFingerprint: UInt64
        /// The fault that the request itself asks for.
        let plan: FaultPlan?
        /// A random number in 0..<1 that selects one of the profile's faults.
        let roll: Double
        let uri: String
        let body: String
    }

    /// The decision about a request.
    struct Admission {
        /// The number to pass to `finish`.
        let number: Int
        var latency = LatencyDistribution.fixed(.zero)
        var fault: Fault?
        /// True for a request that exceeds its key's quota. It is rejected at once.
        var isOverQuota = false
        /// The waiting time in seconds for such a request; `nil`: none is sent.
        var retryAfter: Int?
        /// True if `enter` must be called before the request is served.
        var isGated = false
        /// True if a request is served even after its client has disconnected.
        var servesAbandoned = true
    }

    private struct Service {
        var profile: TrafficProfile
        var faults: [(fault: Fault, upTo: Double)] = []
        var gate = Gate()
        var buckets = QuotaBuckets()
        var distinct: Set<UInt64> = []
        var repeated = 0
        var meter = Meter()
    }

    private struct State {
        var services: [Service]
        var methods = [Meter](repeating: Meter(), count: Endpoint.allCases.count)
        /// The outcomes with their counts, by endpoint.
        var outcomes = [[String: Int]](repeating: [:], count: Endpoint.allCases.count)
        var total = Meter()
        var number = 0
        var log: RequestLog
        /// How often each fault with a limited number of repetitions has occurred, by the request's fingerprint.
        var faultsServed: [UInt64: Int] = [:]
        var since = NIODeadline.now()
    }
    private let state: Mutex<State>

    /// The maximum number of stored fingerprints per API, which use 16 MB. Beyond that, new ones are not counted.
    private static let distinctLimit = 1 << 20

    init(profile: TrafficProfile, logCapacity: Int) {
        let services = ProviderAPI.allCases.map { _ in
            var service = Service(profile: profile)
            Self.apply(profile, to: &service)
            return service
        }
        state = Mutex(State(services: services, log: RequestLog(capacity: logCapacity)))
    }

    /// Counts an arriving request. Call `finish` exactly once for it.
    func arrive(_ arrival: Arrival) -> Admission {
        state.withLock { state in
            let now = NIODeadline.now().uptimeNanoseconds
            let second = Int(WallTime.now().milliseconds / 1000)

            state.number += 1
            state.log.add(
                RequestLog.Entry(
                    number: state.number, second: second, nanoseconds: now, endpoint: arrival.endpoint,
                    uri: arrival.uri, body: arrival.body))
            state.total.arrive(second: second, nanoseconds: now)
            state.methods[arrival.endpoint.rawValue].arrive(second: second, nanoseconds: now)

            var admission = Admission(number: state.number)
            if let plan = arrival.plan {
                admission.fault = Self.fault(of: plan, fingerprint: arrival.fingerprint, state: &state)
            }
            guard let api = arrival.endpoint.api else { return admission }

            state.services[api.rawValue].meter.arrive(second: second, nanoseconds: now)
            Self.admit(arrival, at: now, by: &state.services[api.rawValue], as: &admission)
            return admission
        }
    }

    private static func admit(
        _ arrival: Arrival, at now: UInt64, by service: inout Service, as admission: inout Admission
    ) {
        if service.distinct.count < distinctLimit || service.distinct.contains(arrival.fingerprint) {
            if !service.distinct.insert(arrival.fingerprint).inserted { service.repeated += 1 }
        }

        if let quota = service.profile.quota,
            !service.buckets.take(for: arrival.keyFingerprint, quota: quota, now: now)
        {
            admission.isOverQuota = true
            admission.retryAfter = quota.retryAfter
            return
        }

        admission.latency = service.profile.latency
        admission.isGated = service.gate.capacity != nil
        admission.servesAbandoned = service.gate.capacity?.servesAbandoned ?? false
        if admission.fault == nil, !service.faults.isEmpty {
            admission.fault = service.faults.first { arrival.roll < $0.upTo }?.fault
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
    /// - Parameter waiter: if the result is `later`, this is called from any thread once the request has a permit.
    func enter(_ api: ProviderAPI, waiter: @escaping Gate.Waiter) -> Gate.Entry {
        state.withLock { $0.services[api.rawValue].gate.enter(waiter) }
    }

    /// Releases a permit.
    func leave(_ api: ProviderAPI) {
        for next in state.withLock({ $0.services[api.rawValue].gate.leave() }) { next() }
    }

    /// Counts a finished request. Must be called exactly once per arrival.
    /// - Parameter isAborted: true if the client disconnected before the answer was sent.
    func finish(_ number: Int, endpoint: Endpoint, outcome: String, isAborted: Bool) {
        state.withLock { state in
            state.total.finish(isAborted: isAborted)
            state.methods[endpoint.rawValue].finish(isAborted: isAborted)
            state.outcomes[endpoint.rawValue][outcome, default: 0] += 1
            if let api = endpoint.api { state.services[api.rawValue].meter.finish(isAborted: isAborted) }
            state.log.finish(number, outcome: outcome)
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

    /// Resets the counters and clears the log. Requests in flight are still counted.
    func reset() {
        state.withLock { state in
            state.total.reset()
            for index in state.methods.indices {
                state.methods[index].reset()
                state.outcomes[index].removeAll()
            }
            for index in state.services.indices {
                state.services[index].meter.reset()
                state.services[index].distinct.removeAll()
                state.services[index].repeated = 0
            }
            state.faultsServed.removeAll()
            state.log.reset()
            state.since = NIODeadline.now()
        }
    }

    /// Returns the last requests, oldest first, and the time when counting began, on the log's monotonic clock.
    func log(last count: Int) -> (entries: [RequestLog.Entry], since: UInt64) {
        state.withLock { ($0.log.last(count), $0.since.uptimeNanoseconds) }
    }

    func snapshot() -> TrafficSnapshot {
        state.withLock { state in
            let services = ProviderAPI.allCases.map { api in
                let methods = Endpoint.allCases.filter { $0.api == api }.map { endpoint in
                    let index = endpoint.rawValue
                    return (
                        name: endpoint.name,
                        count: TrafficSnapshot.Count(meter: state.methods[index], outcomes: state.outcomes[index])
                    )
                }
                let service = state.services[api.rawValue]
                let outcomes = TrafficSnapshot.sum(methods.map(\.count.outcomes))
                return TrafficSnapshot.Service(
                    api: api, count: TrafficSnapshot.Count(meter: service.meter, outcomes: outcomes), methods: methods,
                    distinct: service.distinct.count, repeated: service.repeated, beingServed: service.gate.active,
                    waitingForTurn: service.gate.waiting)
            }

            let elapsed = NIODeadline.now() - state.since
            let total = TrafficSnapshot.Count(meter: state.total, outcomes: TrafficSnapshot.sum(state.outcomes))
            return TrafficSnapshot(
                elapsedMilliseconds: Int(elapsed.nanoseconds / 1_000_000), total: total, services: services)
        }
    }
}
