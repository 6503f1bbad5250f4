import LocationSearch
import QuotaSharing
import Testing

@testable import WorkerRuntime

/// The orders that a worker accepts, and the resulting controls of its lanes.
struct ControlPolicyTests {
    private let policy = ControlPolicy(
        worker: "web-1", concurrency: 64, loops: 2, rates: [.hotpepper: 50])

    private func order(
        _ control: ControlOrder.Control, _ provider: String? = nil, _ number: Double? = nil, level: String? = nil,
        isForced: Bool = false
    ) -> ControlOrder {
        var order = ControlOrder(control, provider: provider, number: number, level: level, by: "mori", at: 0)
        order.isForced = isForced
        return order
    }

    @Test func `Orders within the settings are accepted`() {
        let orders = [
            order(.pauseIntake), order(.pauseProvider, "hotpepper"), order(.rate, "hotpepper", 50),
            order(.rate, "hotpepper", 0.001), order(.concurrency, nil, 64), order(.logLevel, level: "trace"),
        ]
        for order in orders { #expect(policy.refusal(of: order, instance: "a") == nil, "\(order)") }
    }

    @Test func `Orders beyond the settings need force`() {
        for number in [(ControlOrder.Control.rate, "hotpepper", 50.5), (.concurrency, nil, 65)]
            as [(ControlOrder.Control, String?, Double)]
        {
            let refusal = policy.refusal(of: order(number.0, number.1, number.2), instance: "a")
            #expect(refusal?.contains("more than the setting allows") == true)
            #expect(policy.refusal(of: order(number.0, number.1, number.2, isForced: true), instance: "a") == nil)
        }
    }

    @Test func `No order exceeds the range of the setting`() {
        let orders = [
            order(.rate, "hotpepper", 1_000_001, isForced: true), order(.rate, "hotpepper", 0, isForced: true),
            order(.concurrency, nil, 65_537, isForced: true), order(.concurrency, nil, 0, isForced: true),
            order(.rate, "hotpepper", isForced: true), order(.logLevel, level: "loud", isForced: true),
        ]
        for order in orders { #expect(policy.refusal(of: order, instance: "a") != nil, "\(order)") }
    }

    @Test func `Orders that do not apply are rejected`() throws {
        #expect(policy.refusal(of: order(.rate, "google-places", 5), instance: "a")?.contains("is not set") == true)
        #expect(policy.refusal(of: order(.pauseProvider, "bing"), instance: "a")?.contains("bing") == true)
        #expect(policy.refusal(of: order(.pauseProvider), instance: "a") != nil)
        #expect(policy.refusal(of: order(.retry), instance: "a") != nil)
        #expect(policy.refusal(of: order(.retry, "hotpepper"), instance: "a") == nil)
        #expect(policy.refusal(of: order(.drain), instance: "a") != nil, "never all workers at once")

        let text = #"{"fleet":"f","control":{"order":{"at":1,"by":"b","control":"later"},"sender":"s"}}"#
        guard case .control(let later)? = FleetCodec(fleet: "f").message(Array(text.utf8)), let order = later.order
        else {
            Issue.record("it was not read")
            return
        }
        #expect(policy.refusal(of: order, instance: "a")?.contains("later") == true)
    }

    @Test func `Lanes get the controls of the orders`() {
        #expect(policy.laneControls(of: []) == LaneControls())
        let controls = policy.laneControls(of: [
            order(.pauseProvider, "google-places"), order(.rate, "hotpepper", 20), order(.concurrency, nil, 9),
            order(.pauseIntake), order(.logLevel, level: "debug"),
        ])
        #expect(controls.providers[.googlePlaces]?.isPaused == true)
        #expect(controls.providers[.hotpepper]?.perSecond == 20)
        #expect(controls.concurrency == 4)
        #expect(!controls.isIntakeOpen)
        #expect(policy.laneControls(of: [order(.concurrency, nil, 1)]).concurrency == 1, "each loop has one")
    }
}
