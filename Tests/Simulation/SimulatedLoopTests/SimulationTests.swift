import Basics
import EventLoop
import SimulatedLoop
import Testing

/// Schedules follow from seeds, and time from events.
@Suite struct SimulationTests {
    // MARK: - Seeds

    @Test func `The same seed gives the same trace`() throws {
        let (first, second) = (try Simulation.rallies(seed: 7), try Simulation.rallies(seed: 7))

        #expect(first.trace == second.trace)
        #expect(first.notes == second.notes)
        #expect(first.digest == second.digest)
        #expect(first.notes.count == 22)
        #expect(first.notes.last == "end")
    }

    @Test func `Different seeds interleave the loops in different ways`() throws {
        let runs = try (1...20).map { try Simulation.rallies(seed: $0) }

        #expect(Set(runs.map(\.digest)).count == 20)
        #expect(Set(runs.map(\.notes)).count > 10)
        #expect(Set(runs.map { $0.notes.sorted() }).count == 1, "the same is done in each")
    }

    @Test func `Loops that are ready together run in any order`() throws {
        var firsts: Set<String> = []
        for seed in UInt64(1)...40 {
            let (simulation, notes) = (Simulation(seed: seed), Notes())
            for name in ["a", "b", "c"] {
                simulation.spawn(on: simulation.makeLoop(name)) { notes.add(name) }
            }
            try simulation.run()
            firsts.insert(notes.all.first ?? "")
            #expect(notes.all.count == 3)
        }
        #expect(firsts == ["a", "b", "c"])
    }

    @Test func `Equal timers fire in any order and others in the order of their times`() throws {
        var orders: Set<[String]> = []
        for seed in UInt64(1)...60 {
            let (simulation, notes) = (Simulation(seed: seed), Notes())
            let loop = simulation.makeLoop("a")
            simulation.spawn(on: loop) { [events = loop.eventLoop] in
                let due = events.now + .milliseconds(5)
                events.schedule(at: due + .milliseconds(1)) { notes.add("later") }
                for name in ["x", "y", "z"] { events.schedule(at: due) { notes.add(name) } }
                events.schedule(at: due - .milliseconds(1)) { notes.add("sooner") }
            }
            try simulation.run()
            #expect(notes.all.first == "sooner")
            #expect(notes.all.last == "later")
            orders.insert(notes.all)
        }
        #expect(orders.count == 6, "each order of three")
    }

    @Test func `Events that are due together happen in any order`() throws {
        var orders: Set<[String]> = []
        for seed in UInt64(1)...40 {
            let (simulation, notes) = (Simulation(seed: seed), Notes())
            for name in ["x", "y"] { simulation.schedule(after: .seconds(1)) { notes.add(name) } }
            #expect(try simulation.run() == .idle)
            #expect(simulation.elapsed == .seconds(1))
            orders.insert(notes.all)
        }
        #expect(orders.count == 2)
    }

    @Test func `Forgotten events do not happen and hold nothing`() throws {
        let notes = Notes()
        weak var freed: Simulation?
        do {
            let simulation = Simulation(seed: 1)
            freed = simulation
            simulation.schedule(after: .seconds(1)) { notes.add("\(simulation.seed)") }
            simulation.forgetEvents()
            try simulation.run()
        }
        #expect(notes.all == [])
        #expect(freed == nil)
    }

    @Test func `Random numbers of one loop change nothing for another`() throws {
        func numbers(otherTakes count: Int) throws -> [UInt64] {
            let simulation = Simulation(seed: 3)
            let (a, b) = (simulation.makeLoop("a"), simulation.makeLoop("b"))
            for _ in 0..<count { _ = a.eventLoop.randomNumber() }
            return (0..<3).map { _ in b.eventLoop.randomNumber() }
        }
        #expect(try numbers(otherTakes: 0) == numbers(otherTakes: 9))
    }

    // MARK: - Time

    @Test func `An hour of waiting passes at once`() throws {
        let simulation = Simulation(seed: 1)
        let loop = simulation.makeLoop("a")
        let (start, notes) = (loop.eventLoop.now, Notes())
        simulation.spawn(on: loop) { [events = loop.eventLoop] in
            for _ in 0..<60 { await events.pause(.seconds(60)) }
            notes.add("\(Int(start.duration(to: events.now) / .seconds(1)))")
            notes.add("\(events.asleep > .seconds(3599) && events.busy < .seconds(1))")
        }

        let wall = loop.eventLoop.wallNow
        #expect(try simulation.run() == .idle)
        #expect(notes.all == ["3600", "true"])
        #expect((3600...3601).contains(loop.eventLoop.wallNow.duration(since: wall) / .seconds(1)))
    }

    @Test func `A run ends with its time or its condition and can be resumed`() throws {
        let (simulation, notes) = (Simulation(seed: 1), Notes())
        let loop = simulation.makeLoop("a")
        simulation.spawn(on: loop) { [events = loop.eventLoop] in
            for second in 1...5 {
                await events.pause(.seconds(1))
                notes.add("\(second)")
            }
        }

        #expect(try simulation.run(for: .milliseconds(2500)) == .timeIsUp)
        #expect(simulation.elapsed == .milliseconds(2500))
        #expect(notes.all == ["1", "2"])
        #expect(try simulation.run(while: { notes.all.count < 4 }) == .condition)
        #expect(notes.all == ["1", "2", "3", "4"])
        #expect(try simulation.run() == .idle)
        #expect(notes.all.count == 5)
    }

    @Test func `A fast clock is ahead and its timers fire sooner`() throws {
        let simulation = Simulation(seed: 1)
        let clock = simulation.makeClock(skew: .seconds(1000), wallSkew: .seconds(-3), drift: 100_000)
        let (fast, right) = (simulation.makeLoop("fast", clock: clock), simulation.makeLoop("right"))
        #expect(right.eventLoop.now.duration(to: fast.eventLoop.now) == .seconds(1000))
        #expect(fast.eventLoop.wallNow.duration(since: right.eventLoop.wallNow) == .seconds(-3))

        let notes = Notes()
        for loop in [fast, right] {
            simulation.spawn(on: loop) { [events = loop.eventLoop, name = loop.name] in
                await events.pause(.seconds(10))
                notes.add(name)
            }
        }
        try simulation.run(while: { notes.all.isEmpty })
        #expect(notes.all == ["fast"])
        #expect((9.08...9.1).contains(simulation.elapsed / .seconds(1)))

        clock.drift = 0
        clock.stepWallTime(by: .seconds(60))
        let before = clock.now
        simulation.schedule(after: .seconds(5)) {}
        try simulation.run()
        #expect(before.duration(to: clock.now) == .seconds(5))
        #expect(notes.all == ["fast", "right"])
        #expect(fast.eventLoop.wallNow.duration(since: right.eventLoop.wallNow) > .seconds(57))
    }

    // MARK: - Faults

    @Test func `A frozen loop does nothing while its clock goes on`() throws {
        let (simulation, notes) = (Simulation(seed: 1), Notes())
        let (frozen, other) = (simulation.makeLoop("frozen"), simulation.makeLoop("other"))
        for loop in [frozen, other] {
            simulation.spawn(on: loop) { [events = loop.eventLoop, name = loop.name] in
                let start = events.now
                for _ in 0..<3 {
                    await events.pause(.seconds(1))
                    notes.add("\(name) \(Int(start.duration(to: events.now) / .seconds(1)))")
                }
            }
        }
        simulation.schedule(after: .milliseconds(1500)) { frozen.freeze(until: simulation.now + .seconds(10)) }

        try simulation.run()
        #expect(notes.all.filter { $0.hasPrefix("other") } == ["other 1", "other 2", "other 3"])
        #expect(notes.all.filter { $0.hasPrefix("frozen") } == ["frozen 1", "frozen 11", "frozen 12"])
    }

    @Test func `A killed loop does nothing more and its callers wait forever`() throws {
        let (simulation, notes) = (Simulation(seed: 1), Notes())
        let (killed, other) = (simulation.makeLoop("killed"), simulation.makeLoop("other"))
        let player = Player("killed", on: killed.eventLoop, notes)
        simulation.spawn(on: killed) { [events = killed.eventLoop] in
            while true { await events.pause(.seconds(1)) }
        }
        simulation.spawn(on: other) { [events = other.eventLoop] in
            await events.pause(.seconds(5))
            notes.add("asks")
            await player.hit("x", 0)
            notes.add("is answered")
        }
        simulation.schedule(after: .seconds(3)) { killed.kill() }

        #expect(try simulation.run() == .idle)
        #expect(notes.all == ["asks"])
        #expect(killed.isKilled)
    }

    // MARK: - Descriptors

    @Test func `A watched descriptor is reported on the loop`() throws {
        final class Handler: ReadinessHandler {
            let (loop, notes): (EventLoop, Notes)
            init(_ loop: EventLoop, _ notes: Notes) { (self.loop, self.notes) = (loop, notes) }
            func ready(_ fileDescriptor: Int32, readiness: Readiness) {
                notes.add("\(fileDescriptor) \(readiness.rawValue) \(loop.isCurrent)")
            }
        }
        let (simulation, notes) = (Simulation(seed: 1), Notes())
        let loop = simulation.makeLoop("a")
        simulation.spawn(on: loop) { [events = loop.eventLoop] in
            events.watch(7, for: .read, handler: Handler(events, notes))
        }
        simulation.schedule(after: .seconds(1)) {
            loop.report(7, readiness: .read)
            loop.report(8, readiness: .read)
        }
        try simulation.run()
        #expect(notes.all == ["7 1 true"])
    }

    @Test func `A stopped loop runs its jobs and ends`() throws {
        let (simulation, notes) = (Simulation(seed: 1), Notes())
        let loop = simulation.makeLoop("a")
        simulation.spawn(on: loop) { [events = loop.eventLoop] in
            events.stop()
            await Task.yield()
            notes.add("ran")
        }
        #expect(try simulation.run() == .idle)
        #expect(notes.all == ["ran"])
        #expect(loop.eventLoop.isStopped)
    }
}
