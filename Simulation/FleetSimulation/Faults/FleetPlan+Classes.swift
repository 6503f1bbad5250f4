import Basics
import Resilience
import SimulatedLoop
import WorkerRuntime

/// Requests of different classes and tenants.
extension FleetPlan {
    /// The settings by which workers distinguish classes and tenants.
    struct Mixture: Sendable {
        /// The limit on the bytes of waiting requests in one process.
        var lookAheadBytes: Int
        var batchFloor: Double
        var hasTenants: Bool
        /// The number of partitions of the topic for batch requests; `nil`: both classes share one topic.
        var batchPartitions: Int32?
        /// The limit on unconfirmed outcomes in one lane; `nil`: the worker's default.
        var unconfirmedOutcomes: Int?
    }

    /// The tenants of a schedule that distinguishes tenants.
    private static let tenants = ["a", "b", "c"]

    /// Makes a fifth of all schedules distinguish interactive and batch requests, and a quarter of these tenants.
    ///
    /// This leaves out schedules with settings that a worker rejects together with classes. It also leaves out those with records
    /// that crash workers, because requests that overtook others are not among the watched records. With at-least-once, a crash
    /// without done-sets repeats all requests that overtook another one.
    mutating func makeClasses(_ random: inout SeededGenerator) {
        let mayOvertake = delivery == .exactlyOnce && settings.doneSetBytes > 0 && olderProcesses == 0
        guard random.chance(0.2), keepsDoneSets || mayOvertake, poisons.isEmpty, fullLoad == nil else { return }
        mixture = Mixture(
            lookAheadBytes: [4_000, 20_000, 1 << 20].randomElement(using: &random) ?? 20_000,
            batchFloor: [0, 0.05, 0.3].randomElement(using: &random) ?? 0.05,
            hasTenants: ordering == .unordered && random.chance(0.5))
        let batch = Double.random(in: 0.2...0.9, using: &random)
        for index in requests.indices {
            requests[index].requestClass = random.chance(batch) ? .batch : .interactive
            if mixture?.hasTenants == true { requests[index].tenant = Self.tenants.randomElement(using: &random) }
        }
        if random.chance(0.3) { mixture?.batchPartitions = Int32.random(in: 1...4, using: &random) }
        if delivery == .exactlyOnce { makeOutcomesWait(&random) }
    }

    /// Makes outcomes wait for earlier requests of their partitions, with room for few of them.
    private mutating func makeOutcomesWait(_ random: inout SeededGenerator) {
        switch Double.random(in: 0..<1, using: &random) {
        case ..<0.2: keepsMetadata = false
        case ..<0.4: settings.doneSetBytes = 24
        default: break
        }
        if random.chance(0.5) { mixture?.unconfirmedOutcomes = Int.random(in: 1...8, using: &random) }
    }

    /// Returns the class of a request as the workers see it. An invalid record has its topic's class.
    func requestClass(of request: Request) -> RequestClass {
        mixture == nil || !request.isValid ? .interactive : request.requestClass
    }
}

extension FleetPlan.Mixture {
    func apply(to configuration: inout WorkerConfiguration, topic: String) {
        configuration.topics.requestTopics = [RequestTopic(topic, classes: [.interactive, .batch])]
        if batchPartitions != nil {
            configuration.topics.requestTopics.append(RequestTopic(SimulatedWorker.batchRequests, classes: [.batch]))
        }
        configuration.flows.fairBy = hasTenants ? .header("tenant") : .none
        configuration.flows.lookAheadBytes = lookAheadBytes
        configuration.unconfirmedOutcomes = unconfirmedOutcomes
        configuration.flows.fairness = fairness
    }

    var fairness: FairTerms {
        var terms = FairTerms()
        terms.batchFloor = batchFloor
        return terms
    }
}
