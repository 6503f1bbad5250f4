import LocationSearch
import ProviderCalls
import Resilience
import SimulatedLoop
import WorkerRuntime

/// Worker settings that differ from the defaults.
struct DrawnSettings: Sendable {
    var deadline = 5.0
    var commitInterval = 1.0
    var maxAttempts = 3
    /// The seconds after which a call is abandoned; `nil`: derived from the provider's latency.
    var attemptTimeout: Double?
    var retryRatio = 0.2
    var hasBreaker = true
    var minimumCalls = 20
    var failureRate = 0.5
    var openDuration = 5.0
    var probes = 3
    var sharesIdenticalCalls = true
    /// The limit on the metadata of each committed offset, in bytes.
    var doneSetBytes = 4096

    init() {}

    init(_ random: inout SeededGenerator) {
        deadline = [1, 2, 5, 15].randomElement(using: &random) ?? 5
        commitInterval = [0.2, 1, 3].randomElement(using: &random) ?? 1
        maxAttempts = Int.random(in: 1...5, using: &random)
        attemptTimeout = random.chance(0.3) ? Double.random(in: 0.2...1.5, using: &random) : nil
        retryRatio = [0, 0.2, 1].randomElement(using: &random) ?? 0.2
        hasBreaker = random.chance(0.8)
        minimumCalls = Int.random(in: 2...20, using: &random)
        failureRate = Double.random(in: 0.1...1, using: &random)
        openDuration = Double.random(in: 0.5...8, using: &random)
        probes = Int.random(in: 1...4, using: &random)
        sharesIdenticalCalls = random.chance(0.6)
    }

    func apply(to configuration: inout WorkerConfiguration) {
        configuration.timeLimits.deadline = .seconds(deadline)
        configuration.commitInterval = .seconds(commitInterval)
        configuration.doneSetBytes = doneSetBytes
    }

    func apply(to policy: inout ProviderPolicy) {
        policy.retry.maxAttempts = maxAttempts
        policy.attemptTimeout = attemptTimeout.map { .fixed(.seconds($0)) } ?? .adaptive
        policy.budget.ratio = retryRatio
        policy.breaker.isEnabled = hasBreaker
        policy.breaker.minimumCalls = minimumCalls
        policy.breaker.failureRate = failureRate
        policy.breaker.openDuration = .seconds(openDuration)
        policy.breaker.probes = probes
        policy.sharesIdenticalCalls = sharesIdenticalCalls
    }
}

/// A second provider, for requests with `provider: auto` or its name.
struct SecondProvider: Sendable {
    var rateLimit: RateLimit?
    /// True if it comes before the other one in `providers.order`.
    var isFirst: Bool
}

extension FleetPlan {
    /// Draws worker settings for a third of all schedules.
    mutating func makeSettings(_ random: inout SeededGenerator) {
        guard random.chance(0.35) else { return }
        settings = DrawnSettings(&random)
        // Parked requests wait for an answer in time, so they would wait forever if the timeout were below the provider's latency.
        guard whenOpen == .hold else { return }
        settings.attemptTimeout = settings.attemptTimeout.map { max($0, latency.upperBound + 0.5) }
        settings.deadline = max(settings.deadline, latency.upperBound + 1)
    }

    /// True if each commit lists everything done beyond its offset, and each next owner reads that list.
    var keepsDoneSets: Bool {
        settings.doneSetBytes == DrawnSettings().doneSetBytes && keepsMetadata && olderProcesses == 0
    }

    /// Takes the room for done-sets away, or nearly all of it, in some schedules.
    mutating func makeDoneSets(_ random: inout SeededGenerator) {
        guard random.chance(0.3) else { return }
        settings.doneSetBytes = [0, 0, 28, 60].randomElement(using: &random) ?? 0
    }

    /// Adds a second provider, with a separate limit.
    mutating func makeSecondProvider(_ random: inout SeededGenerator) {
        guard random.chance(0.25) else { return }
        let limit = random.chance(0.6) ? RateLimit(perSecond: Double(Int.random(in: 2...30, using: &random))) : nil
        secondProvider = SecondProvider(rateLimit: limit, isFirst: random.chance(0.4))
        for index in requests.indices {
            requests[index].provider =
                ["auto", "auto", "hotpepper", "google-places"].randomElement(using: &random) ?? "auto"
        }
    }

    /// The providers of the fleet, in the order of `providers.order`.
    var providers: [ProviderID] {
        guard let secondProvider else { return [.hotpepper] }
        return secondProvider.isFirst ? [.googlePlaces, .hotpepper] : [.hotpepper, .googlePlaces]
    }

    func rateLimit(of provider: ProviderID) -> RateLimit? {
        provider == .hotpepper ? rateLimit : secondProvider?.rateLimit
    }

    /// True if the calls of any provider have a rate limit.
    var hasRateLimit: Bool { providers.contains { rateLimit(of: $0) != nil } }

    /// True if calls may be retried after a timeout, without a failure of the provider.
    var givesCallsUp: Bool { settings.attemptTimeout.map { $0 < latency.upperBound + 0.05 } ?? false }
}
