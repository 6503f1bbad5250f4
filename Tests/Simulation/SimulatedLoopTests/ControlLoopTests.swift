import Basics
import EventLoop
import Logging
@testable import QuotaSharing
import SimulatedLoop
import Testing

@testable import WorkerRuntime

/// How often a process checks operators' orders, under virtual time.
struct ControlLoopTests {
    /// The topic is read, an order comes and ends, and from then on the topic cannot be read.
    @Test func `The loop rests while the topic cannot be read after an order has ended`() throws {
        let simulation = Simulation(seed: 1)
        let loop = simulation.makeLoop("controls")
        var log = Logger(label: "controls")
        log.logLevel = .critical
        let policy = ControlPolicy(worker: "w", concurrency: 8, loops: 1)
        let controls = FleetControls(policy, name: "a", loop: loop.eventLoop, log: log)

        simulation.spawn(on: loop) {
            var order = ControlOrder(.pauseIntake, by: "mori", at: loop.eventLoop.wallNow.milliseconds)
            order.until = order.at + 2000
            let message = ControlMessage(sender: "tool", order: order)
            _ = await controls.receive(FleetNews(opened: FleetTopicExtent(first: 0, end: 0, oldest: 0)))
            _ = await controls.receive(FleetNews(records: [FleetRecord(offset: 0, message: .control(message))]))
            _ = await controls.receive(FleetNews(opened: FleetTopicExtent(first: 0, end: 9, oldest: 0)))
            await controls.run()
        }
        try simulation.run(for: .seconds(10))
        let before = simulation.turns
        try simulation.run(for: .seconds(100))
        #expect((50...400).contains(simulation.turns - before), "it ticks once a second: \(simulation.turns - before)")

        simulation.spawn(on: loop) { await controls.end() }
        try simulation.run()
        loop.eventLoop.stop()
        try simulation.run()
    }
}
