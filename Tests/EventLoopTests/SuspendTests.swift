import EventLoop
import TestSupport
import Testing

/// Waiting on an actor for a condition that another task on it makes true.
struct SuspendTests {
    private actor Door {
        private var isOpen = false
        private var waiter: CheckedContinuation<Void, Never>?
        private(set) var timesKept = 0

        func open() {
            isOpen = true
            waiter?.resume()
            waiter = nil
        }

        func pass() async {
            await suspend(unless: isOpen) { continuation in
                timesKept += 1
                waiter = continuation
            }
        }
    }

    @Test func callerGoesOnAtOnceWhenTheConditionHolds() async {
        let door = Door()
        await door.open()

        await door.pass()

        #expect(await door.timesKept == 0)
    }

    @Test func callerWaitsUntilTheKeptContinuationIsResumed() async throws {
        let door = Door()
        let passing = Task { await door.pass() }
        try await eventually("the caller waits") { await door.timesKept == 1 }

        await door.open()

        await passing.value
        #expect(await door.timesKept == 1)
    }
}
