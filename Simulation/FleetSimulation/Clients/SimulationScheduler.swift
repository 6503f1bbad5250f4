import Basics
import SimulatedKafkaClients
import SimulatedLoop

/// The simulation's time in the unit of the Kafka model: nanoseconds since 1970.
final class SimulationScheduler: SimulatedScheduler {
    private let simulation: Simulation
    /// The difference between this time and the simulation's, in nanoseconds.
    private let lead: Int64

    init(_ simulation: Simulation, start: WallTime) {
        self.simulation = simulation
        let nanoseconds = start.milliseconds.saturatingMultiplied(by: 1_000_000)
        lead = nanoseconds.saturatingSubtracting(simulation.now.nanoseconds)
    }

    var now: Int64 { simulation.now.nanoseconds.saturatingAdding(lead) }

    func schedule(at time: Int64, _ action: @escaping () -> Void) {
        simulation.schedule(at: Instant(nanoseconds: time.saturatingSubtracting(lead)), action)
    }
}
