import EventLoop
import Foundation
import SimulatedLoop
import Synchronization
import Testing

/// Any job that leaves the simulated loops ends the run with a message about it.
@Suite struct EscapeTests {
    private func escape(_ work: @escaping @Sendable (EventLoop) async -> Void) -> SimulationError? {
        let simulation = Simulation(seed: 1)
        let loop = simulation.makeLoop("lane")
        simulation.spawn(on: loop) { [events = loop.eventLoop] in
            await events.pause(.seconds(1))
            await work(events)
        }
        return #expect(throws: SimulationError.self) { try simulation.run(for: .seconds(60)) }
    }

    @Test func `A task without an executor escapes`() throws {
        let error = escape { _ in Task.detached {} }
        guard case .escaped("the global executor", _, "lane", _) = error else {
            let found = error.map { "\($0)" } ?? "no error"
            Issue.record("\(found)")
            return
        }
        #expect(error?.description.contains("executorPreference") == true)
        #expect(error?.description.contains("EscapeTests") == true)
    }

    @Test func `A sleep of the system escapes`() {
        let error = escape { _ in try? await Task.sleep(for: .milliseconds(1)) }
        guard case .escaped(let executor, _, "lane", _) = error else {
            let found = error.map { "\($0)" } ?? "no error"
            Issue.record("\(found)")
            return
        }
        #expect(executor.hasPrefix("the global executor, "))
    }

    @Test func `A job of the main actor escapes`() {
        let error = escape { _ in await onMain() }
        guard case .escaped("the main executor", _, "lane", _) = error else {
            let found = error.map { "\($0)" } ?? "no error"
            Issue.record("\(found)")
            return
        }
    }

    @Test func `An actor without a loop stays on the preferred one`() throws {
        actor Plain { func work() {} }
        let (simulation, notes) = (Simulation(seed: 1), Notes())
        let loop = simulation.makeLoop("lane")
        simulation.spawn(on: loop) {
            await Plain().work()
            notes.add("worked")
        }
        try simulation.run()
        #expect(notes.all == ["worked"])
    }

    @Test func `An answer from another thread ends the run`() {
        let simulation = Simulation(seed: 1)
        let loop = simulation.makeLoop("lane")
        let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)
        simulation.spawn(on: loop) {
            await withCheckedContinuation { continuation in waiter.withLock { $0 = continuation } }
        }
        simulation.schedule(after: .seconds(1)) {
            let hasAnswered = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                waiter.withLock { $0.take() }?.resume()
                hasAnswered.signal()
            }
            hasAnswered.wait()
        }

        let error = #expect(throws: SimulationError.self) { try simulation.run() }
        #expect(error == .otherThread(loop: "lane"))
    }

    @Test func `A task of another thread does not concern the simulation`() async throws {
        let value = await Task.detached { 7 }.value
        #expect(value == 7)
    }
}

@MainActor private func onMain() {}
