import Console
import Kafka
import ProviderSimulator

/// The controls of the demo's console: its faults and its traffic.
///
/// A control for a single action, such as sending many requests, is on while the action runs. A new control needs a
/// name in `controls()`, a case in `set(_:isOn:)`, and a button in `demo.js`.
actor DemoControls: DemoPanel {
    /// The name of the control that sends a trickle of requests.
    private static let traffic = "traffic"
    /// The name of the control that sends many requests at once.
    private static let flood = "flood"

    private let stack: DemoStack
    private let child: WorkerChild
    private let traffic: DemoTraffic
    /// The faults that are on, except `workerKilled`, which is read from the state of the process.
    private var faults: Set<DemoFault> = []

    init(_ stack: DemoStack, child: WorkerChild, traffic: DemoTraffic) {
        (self.stack, self.child, self.traffic) = (stack, child, traffic)
    }

    func controls() async -> [DemoControl] {
        var isOn = faults
        if await !child.isRunning { isOn.insert(.workerKilled) }
        let traffic = DemoControl(name: Self.traffic, isOn: traffic.isOn, isFault: false)
        let flood = DemoControl(name: Self.flood, isOn: await isFlooded, isFault: false)
        return [traffic, flood]
            + DemoFault.allCases.map { DemoControl(name: $0.rawValue, isOn: isOn.contains($0), isFault: true) }
    }

    /// True until all requests of the job are sent and none of them waits in the workers.
    private var isFlooded: Bool {
        get async {
            if traffic.isSendingJob { return true }
            return await stack.hasWaitingBatch
        }
    }

    func set(_ name: String, isOn: Bool) async throws(ConsoleError) {
        if name == Self.traffic { return traffic.isOn = isOn }
        if name == Self.flood {
            if isOn { traffic.beginJob() }
            return
        }
        guard let fault = DemoFault(rawValue: name) else {
            throw ConsoleError(.notFound, "the demo has no such control: GET lists all", member: "name")
        }
        try await set(fault, isOn: isOn)
    }

    func clearFaults() async throws(ConsoleError) {
        for fault in DemoFault.allCases { try await set(fault, isOn: false) }
    }

    private func set(_ fault: DemoFault, isOn: Bool) async throws(ConsoleError) {
        if fault == .workerKilled { return try await setWorker(isKilled: isOn) }

        let wasOn = faults.contains(fault)
        if isOn { faults.insert(fault) } else { faults.remove(fault) }
        if fault == .brokerAway { return stack.broker.set(broker: 1, isUp: !isOn) }

        try applyToProviders()
        if fault.concernsKey, wasOn, !isOn { await renewKeys() }
    }

    private func applyToProviders() throws(ConsoleError) {
        do {
            try stack.simulator.setProfile(DemoFault.hotpepper(under: faults), of: [.hotpepper])
            try stack.simulator.setProfile(DemoFault.google(under: faults), of: [.googlePlaces, .googlePlacesLegacy])
        } catch {
            throw ConsoleError(.unavailable, "the simulated provider rejects it: \(error)")
        }
    }

    private func setWorker(isKilled: Bool) async throws(ConsoleError) {
        if isKilled { return await child.kill() }
        do {
            try await child.start()
        } catch {
            throw ConsoleError(.unavailable, "\(error)")
        }
    }

    /// Gives the workers a new key. Without it, they would make no Google calls for minutes.
    private func renewKeys() async {
        await stack.renewKeys()
        await child.renewKey()
    }
}

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
