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

        /// Returns true if the caller did not have to wait.
        func pass() async -> Bool {
            var isKept = false
            await suspend(unless: true) { _ in isKept = true }
            return !isKept
        }

        func signal() { condition.signal() }
        func broadcast() { condition.broadcast() }
        var isAwaited: Bool { condition.isAwaited }
    }

    @Test func `A caller continues at once when the condition holds`() async {
        #expect(await Room().pass())
    }

    @Test func `A signal resumes one task in order and a broadcast all`() async throws {
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
