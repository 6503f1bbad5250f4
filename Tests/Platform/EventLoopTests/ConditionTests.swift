import EventLoop
import TestSupport
import Testing

/// The order in which a condition resumes waiting tasks.
struct ConditionTests {
    private actor Room {
        private var condition = Condition()
        private(set) var entered: [String] = []
        private(set) var waiting = 0

        func wait(_ name: String, first: Bool = false) async {
            await suspend(unless: false) {
                waiting += 1
                if first { condition.addFirst($0) } else { condition.add($0) }
            }
            entered.append(name)
        }

        func signal() { condition.signal() }
        func broadcast() { condition.broadcast() }
        var isAwaited: Bool { condition.isAwaited }
    }

    @Test func `Signal resumes one in order and broadcast all`() async throws {
        let room = Room()
        await room.signal()
        var tasks: [Task<Void, Never>] = []
        for (number, name) in ["a", "b", "c", "d"].enumerated() {
            tasks.append(Task { await room.wait(name, first: name == "d") })
            try await eventually("\(name) waits") { await room.waiting == number + 1 }
        }

        await room.signal()
        await tasks[3].value
        #expect(await room.entered == ["d"])
        await room.signal()
        await tasks[0].value
        #expect(await room.entered == ["d", "a"])
        await room.broadcast()
        for task in tasks { await task.value }
        #expect(await Set(room.entered) == ["a", "b", "c", "d"])
        #expect(await !room.isAwaited)
    }
}

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

    @Test func `Caller goes on at once when the condition holds`() async {
        let door = Door()
        await door.open()

        await door.pass()

        #expect(await door.timesKept == 0)
    }

    @Test func `Caller waits until the kept continuation is resumed`() async throws {
        let door = Door()
        let passing = Task { await door.pass() }
        try await eventually("the caller waits") { await door.timesKept == 1 }

        await door.open()

        await passing.value
        #expect(await door.timesKept == 1)
    }
}
