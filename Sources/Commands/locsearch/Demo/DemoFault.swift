import ProviderSimulator

/// A fault that a visitor of the demo's console can switch on. Raw values are names in the API: add, never rename.
enum DemoFault: String, CaseIterable {
    /// Hot Pepper takes about two seconds for an answer.
    case slowProvider = "slow-provider"
    /// Hot Pepper answers 503 to everything.
    case failingProvider = "failing-provider"
    /// Both of Google's APIs refuse the key.
    case refusedKey = "refused-key"
    /// The day's quota of the key is used up at both of Google's APIs.
    case usedUpQuota = "used-up-quota"
    /// The broker is off the network.
    case brokerAway = "broker-away"
    /// The worker that is a process of its own was killed.
    case workerKilled = "worker-killed"

    /// True where a worker does not ask the provider again before the fault's time is over or there is a new key.
    var concernsKey: Bool { self == .refusedKey || self == .usedUpQuota }

    /// Returns how Hot Pepper treats requests under some faults.
    static func hotpepper(under faults: Set<DemoFault>) -> TrafficProfile {
        var profile = TrafficProfile()
        profile.latency =
            faults.contains(.slowProvider)
            ? .lognormal(p50: .milliseconds(1800), p99: .milliseconds(3000)) : DemoHouse.latency
        if faults.contains(.failingProvider) { profile.faults = ["503": 1] }
        return profile
    }

    /// Returns how Google treats requests under some faults. A key is checked before its quota is looked at.
    static func google(under faults: Set<DemoFault>) -> TrafficProfile {
        var profile = TrafficProfile()
        profile.latency = DemoHouse.latency
        if faults.contains(.refusedKey) {
            profile.faults = ["unauthorized": 1]
        } else if faults.contains(.usedUpQuota) {
            profile.faults = ["rate-limited-day": 1]
        }
        return profile
    }
}
