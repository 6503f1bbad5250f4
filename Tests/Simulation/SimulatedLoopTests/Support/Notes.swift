import EventLoop
import SimulatedLoop
import Synchronization

/// The actions of loops, in order.
final class Notes: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }
    var all: [String] { texts.withLock { $0 } }
}

/// An actor on a loop, which counts and passes the ball on.
actor Player {
    private let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    private let name: String
    private let notes: Notes
    private var partner: Player?

    init(_ name: String, on loop: EventLoop, _ notes: Notes) {
        self.name = name
        self.loop = loop
        self.notes = notes
    }

    func play(with partner: Player) { self.partner = partner }

    func hit(_ rally: String, _ left: Int) async {
        loop.checkIsolated()
        notes.add("\(name) \(rally)\(left)")
        guard left > 0 else { return }
        await loop.pause(.milliseconds(Int64.random(in: 0...20, using: &generator)))
        await partner?.hit(rally, left - 1)
    }

    private var generator: LoopRandom {
        get { loop.random }
        set {}
    }
}

extension Simulation {
    /// Runs two actors on two loops that call each other, several times at once.
    /// - Returns: the trace, and what the actors noted.
    static func rallies(seed: UInt64) throws -> (trace: [String], notes: [String], digest: UInt64) {
        let (simulation, notes) = (Simulation(seed: seed), Notes())
        var trace: [String] = []
        simulation.onLine = { trace.append($0) }

        let (a, b) = (simulation.makeLoop("a"), simulation.makeLoop("b"))
        let (left, right) = (Player("a", on: a.eventLoop, notes), Player("b", on: b.eventLoop, notes))
        simulation.spawn(on: a) {
            await left.play(with: right)
            await right.play(with: left)
            await withDiscardingTaskGroup { group in
                for rally in ["x", "y", "z"] { group.addTask { await left.hit(rally, 6) } }
            }
            notes.add("end")
        }
        try simulation.run()
        return (trace, notes.all, simulation.digest)
    }
}
