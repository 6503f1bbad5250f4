import Basics
import SimulatedKafkaClients
import SimulatedLoop

/// The simulation's time, as the model of Kafka counts it: nanoseconds since 1970.
final class SimulationScheduler: SimulatedScheduler {
    private let simulation: Simulation
    private let beginning: Instant
    private let start: Int64

    init(_ simulation: Simulation, start: WallTime) {
        self.simulation = simulation
        beginning = simulation.now
        self.start = start.milliseconds.saturatingMultiplied(by: 1_000_000)
    }

    var now: Int64 { start.saturatingAdding(beginning.duration(to: simulation.now).wholeNanoseconds) }

    func schedule(at time: Int64, _ action: @escaping () -> Void) {
        simulation.schedule(after: .nanoseconds(max(0, time.saturatingSubtracting(now)))) { action() }
    }
}
