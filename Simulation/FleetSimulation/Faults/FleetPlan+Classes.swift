import Basics
import Resilience
import SimulatedLoop
import WorkerRuntime

/// Requests that differ in class and tenant.
extension FleetPlan {
    /// How workers tell requests apart.
    struct Mixture: Sendable {
        /// The bytes of requests that may wait in one process.
        var lookAheadBytes: Int
        var batchFloor: Double
        var hasTenants: Bool
        /// The partitions of a topic of its own for batch requests; `nil`: both classes share one.
        var batchPartitions: Int32?
        /// The outcomes that may wait in one lane for the brokers; `nil`: as many as in a real one.
        var unconfirmedOutcomes: Int?
    }

    /// The tenants of a schedule that has some.
    private static let tenants = ["a", "b", "c"]

    /// Has a fifth of all schedules tell interactive and batch requests apart, and in half of these tenants too.
    ///
    /// Left out are schedules with settings that a worker refuses together with classes, and those with records that end processes:
    /// what overtook others is not among the records that are watched. With at-least-once, a crash without done-sets repeats all that
    /// overtook a request.
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

    /// Has outcomes wait for earlier requests of their partitions, and little room for them.
    private mutating func makeOutcomesWait(_ random: inout SeededGenerator) {
        switch Double.random(in: 0..<1, using: &random) {
        case ..<0.2: keepsMetadata = false
        case ..<0.4: settings.doneSetBytes = 24
        default: break
        }
        if random.chance(0.5) { mixture?.unconfirmedOutcomes = Int.random(in: 1...8, using: &random) }
    }

    /// The class of a request, as far as workers tell classes apart. A record that is no request has its topic's.
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
        configuration.fairBy = hasTenants ? .header("tenant") : .none
        configuration.lookAheadBytes = lookAheadBytes
        configuration.unconfirmedOutcomes = unconfirmedOutcomes
        configuration.fairness = fairness
    }

    var fairness: FairTerms {
        var terms = FairTerms()
        terms.batchFloor = batchFloor
        return terms
    }
}
