import ProviderSimulator

/// A fault that can be switched on in the demo's console. Raw values are part of the API: add, never rename.
enum DemoFault: String, CaseIterable {
    /// Hot Pepper takes about two seconds to answer.
    case slowProvider = "slow-provider"
    /// Hot Pepper answers 503 to everything.
    case failingProvider = "failing-provider"
    /// Both of Google's APIs refuse the key.
    case refusedKey = "refused-key"
    /// Both of Google's APIs report that the key's daily quota is used up.
    case usedUpQuota = "used-up-quota"
    /// The broker is unreachable.
    case brokerAway = "broker-away"
    /// The worker that runs as a child process was killed.
    case workerKilled = "worker-killed"

    /// True if workers make no calls to the provider until the fault's waiting time has passed or the key is renewed.
    var concernsKey: Bool { self == .refusedKey || self == .usedUpQuota }

    /// Returns Hot Pepper's simulated behaviour under these faults.
    static func hotpepper(under faults: Set<DemoFault>) -> TrafficProfile {
        var profile = TrafficProfile()
        profile.latency =
            faults.contains(.slowProvider)
            ? .lognormal(p50: .milliseconds(1800), p99: .milliseconds(3000)) : DemoStack.latency
        if faults.contains(.failingProvider) { profile.faults = ["503": 1] }
        return profile
    }

    /// Returns Google's simulated behaviour under these faults. A refused key takes precedence over a used-up quota.
    static func google(under faults: Set<DemoFault>) -> TrafficProfile {
        var profile = TrafficProfile()
        profile.latency = DemoStack.latency
        if faults.contains(.refusedKey) {
            profile.faults = ["unauthorized": 1]
        } else if faults.contains(.usedUpQuota) {
            profile.faults = ["rate-limited-day": 1]
        }
        return profile
    }
}
