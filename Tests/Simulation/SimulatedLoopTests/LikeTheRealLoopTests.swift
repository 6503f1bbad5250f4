import Basics
import EventLoop
import SimulatedLoop
import Testing

/// The same program on a loop with a thread and on a simulated one.
@Suite(.timeLimit(.minutes(1))) struct LikeTheRealLoopTests {
    /// Jobs, timers and jobs made by timers, whose order a loop decides.
    private static func program(_ loop: EventLoop, _ notes: Notes) async {
        await withDiscardingTaskGroup { group in
            for name in ["a", "b", "c"] {
                group.addTask {
                    for step in 0..<12 {
                        notes.add("\(name)\(step)")
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                await withCheckedContinuation { continuation in
                    loop.schedule(at: loop.now + .milliseconds(2)) { notes.add("second timer") }
                    loop.schedule(at: loop.now) {
                        notes.add("first timer")
                        Task(executorPreference: loop) { notes.add("job of a timer") }
                    }
                    let cancelled = loop.schedule(at: loop.now) { notes.add("never") }
                    loop.cancel(cancelled)
                    loop.schedule(at: loop.now + .milliseconds(6)) { continuation.resume() }
                }
                notes.add("end")
            }
        }
    }

    @Test func `Jobs and timers run in the same order`() async throws {
        let real = Notes()
        let loop = try EventLoop()
        await Task(executorPreference: loop) { await Self.program(loop, real) }.value
        loop.stop()

        for seed in UInt64(1)...10 {
            let (simulation, simulated) = (Simulation(seed: seed), Notes())
            let loop = simulation.makeLoop("a")
            simulation.spawn(on: loop) { [events = loop.eventLoop] in await Self.program(events, simulated) }
            try simulation.run()
            #expect(simulated.all == real.all)
        }
        #expect(real.all.count == 40)
    }

    @Test func `Only the running loop is current`() throws {
        let (simulation, notes) = (Simulation(seed: 1), Notes())
        let (a, b) = (simulation.makeLoop("a"), simulation.makeLoop("b"))
        simulation.spawn(on: a) { [a = a.eventLoop, b = b.eventLoop] in
            notes.add("\(a.isCurrent) \(b.isCurrent)")
            notes.add("\(a.isIsolatingCurrentContext() == true) \(b.isIsolatingCurrentContext() == false)")
        }
        try simulation.run()
        #expect(notes.all == ["true false", "true true"])
        #expect(!a.eventLoop.isCurrent)
    }

    @Test func `Timers fire up to a millisecond late and never early`() throws {
        let (simulation, notes) = (Simulation(seed: 5), Notes())
        let loop = simulation.makeLoop("a")
        simulation.spawn(on: loop) { [events = loop.eventLoop] in
            for _ in 0..<200 {
                let due = events.now + .nanoseconds(Int64(events.randomNumber() % 10_000_000))
                await withCheckedContinuation { continuation in events.schedule(at: due) { continuation.resume() } }
                let late = due.duration(to: events.now)
                if late < .zero || late > .microseconds(1100) { notes.add("\(late)") }
            }
            notes.add("end")
        }
        try simulation.run()
        #expect(notes.all == ["end"])
    }

    /// On both kinds of loop, a cancelled task stops sleeping.
    @Test func `Cancellation ends a sleep`() async throws {
        @Sendable func sleepAndCancel(_ loop: EventLoop) async -> Bool {
            let start = loop.now
            let sleeping = Task(executorPreference: loop) { () -> Bool in
                do { try await loop.sleep(for: .seconds(600)) } catch { return true }
                return false
            }
            await loop.pause(.milliseconds(20))
            sleeping.cancel()
            let wasCancelled = await sleeping.value
            return wasCancelled && start.duration(to: loop.now) < .seconds(60)
        }

        let loop = try EventLoop()
        #expect(await Task(executorPreference: loop) { await sleepAndCancel(loop) }.value)
        loop.stop()

        let (simulation, notes) = (Simulation(seed: 1), Notes())
        let simulated = simulation.makeLoop("a")
        simulation.spawn(on: simulated) { [events = simulated.eventLoop] in
            notes.add("\(await sleepAndCancel(events))")
            do { try await events.sleep(for: .seconds(5)) } catch { notes.add("threw") }
            notes.add("slept")
        }
        try simulation.run()
        #expect(notes.all == ["true", "slept"])
        #expect(simulation.elapsed > .seconds(5))
        #expect(simulation.elapsed < .seconds(6))
    }
}
