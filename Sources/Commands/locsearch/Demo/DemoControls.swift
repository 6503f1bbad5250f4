import Console
import Kafka
import ProviderSimulator

/// What visitors of the demo's console can switch: its faults, and its traffic.
///
/// A control that does something once, such as sending many requests at a time, is one that is on for as long as that takes.
/// It needs a name in `controls()` and a case in `set(_:isOn:)`; the page has a button for it where `demo.js` says so.
actor DemoControls: DemoPanel {
    /// The name of the control that has a trickle of requests written.
    private static let traffic = "traffic"
    /// The name of the one that has many requests written at once.
    private static let flood = "flood"

    /// How long Google, which is never slow here, takes at most.
    private static let longestCall = Duration.milliseconds(1500)

    private let house: DemoHouse
    private let child: WorkerChild
    private let traffic: DemoTraffic
    private let flood: DemoFlood
    /// The faults that are on, but for a killed worker: whether that one runs is asked of its process.
    private var faults: Set<DemoFault> = []

    init(_ house: DemoHouse, child: WorkerChild, traffic: DemoTraffic, flood: DemoFlood) {
        self.house = house
        self.child = child
        self.traffic = traffic
        self.flood = flood
    }

    func controls() async -> [DemoControl] {
        var isOn = faults
        if await !child.isRunning { isOn.insert(.workerKilled) }
        let traffic = DemoControl(name: Self.traffic, isOn: traffic.isOn, isFault: false)
        let flood = DemoControl(name: Self.flood, isOn: await flood.isOn, isFault: false)
        return [traffic, flood]
            + DemoFault.allCases.map { DemoControl(name: $0.rawValue, isOn: isOn.contains($0), isFault: true) }
    }

    func set(_ name: String, isOn: Bool) async throws(ConsoleError) {
        if name == Self.traffic { return traffic.isOn = isOn }
        if name == Self.flood {
            if isOn { flood.begin() }
            return
        }
        guard let fault = DemoFault(rawValue: name) else {
            throw ConsoleError(.notFound, "the demo has no control of this name: GET shows all", member: "name")
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
        if fault == .brokerAway { return house.broker.set(broker: 1, isUp: !isOn) }

        try applyToProviders()
        if fault.concernsKey, wasOn, !isOn { await renewKeys() }
    }

    private func applyToProviders() throws(ConsoleError) {
        do {
            try house.simulator.setProfile(DemoFault.hotpepper(under: faults), of: [.hotpepper])
            try house.simulator.setProfile(DemoFault.google(under: faults), of: [.googlePlaces, .googlePlacesLegacy])
        } catch {
            throw ConsoleError(.unavailable, "the simulated provider does not take it: \(error)")
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

    /// Gives the workers a new key, without which they would not ask Google again for minutes.
    ///
    /// Calls that are under way may still bring refusals, which would shut Google for the new key too.
    private func renewKeys() async {
        try? await Task.sleep(for: Self.longestCall)
        await house.renewKeys()
        await child.renewKey()
    }
}
