import EventContract
import LocationSearch
import SessionState
import TestSupport
import Testing

struct SubscriberTests {
    /// A search of a session with a unique number.
    private static func search(_ number: Int) -> Action {
        .requested(
            SearchRequest(requestID: "r\(number)", location: .shinjuku, sessionID: "session"),
            at: Story.time(Int64(number)))
    }

    @Test func `A subscriber gets the current state and then distinct states`() async throws {
        let store = Store()
        var states = store.updates(of: "session").makeAsyncIterator()
        let first = try #require(await states.next())
        #expect(first == SessionState() && first.revision == 0)

        store.dispatch(Self.search(1))
        let second = try #require(await states.next())
        #expect(second.search?.requestID == "r1" && second.revision == 1)

        // A duplicate changes nothing, so the next state is that of the next search.
        store.dispatch(Self.search(1))
        store.dispatch(Self.search(2))
        #expect(await states.next()?.search?.requestID == "r2")

        var late = store.updates(of: "session").makeAsyncIterator()
        #expect(await late.next() == store.state(of: "session"))
    }

    @Test func `A slow subscriber gets the newest state and delays no other`() async throws {
        let store = Store()
        var slow = store.updates(of: "session").makeAsyncIterator()
        #expect(await slow.next()?.revision == 0)

        var quick = store.updates(of: "session").makeAsyncIterator()
        for number in 1...500 {
            store.dispatch(Self.search(number))
            try #require(await quick.next()?.search?.requestID == "r\(number)")
        }

        #expect(await slow.next()?.search?.requestID == "r500")
        store.dispatch(Self.search(501))
        #expect(await slow.next()?.search?.requestID == "r501")
    }

    @Test func `Two hundred subscribers all reach the last state in order`() async throws {
        let store = Store()
        let last = 300
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    var revision = -1
                    for await state in store.updates(of: "session") {
                        try #require(state.revision > revision, "states come in order, each once")
                        revision = state.revision
                        if state.search?.requestID == "r\(last)" { return }
                    }
                }
            }
            try await eventually("all have subscribed") { store.subscriberCount == 200 }

            // Two concurrent dispatchers, so that their wake-ups overtake each other.
            for half in 0..<2 {
                group.addTask {
                    for number in stride(from: 1 + half, through: last, by: 2) {
                        store.dispatch(Self.search(number))
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        try await eventually("all are forgotten") { store.subscriberCount == 0 }
    }

    @Test func `A subscriber whose task is cancelled is removed`() async throws {
        let store = Store()
        let task = Task {
            var count = 0
            for await _ in store.updates(of: "session") { count += 1 }
            return count
        }
        try await eventually("it has subscribed") { store.subscriberCount == 1 }

        task.cancel()
        #expect(await task.value <= 1)
        try await eventually("it is forgotten") { store.subscriberCount == 0 }
        #expect(store.sessionCount == 0, "nothing happened to the session that it looked at")
    }

    @Test func `A subscriber that drops its iterator is removed`() async throws {
        let store = Store()
        for await _ in store.updates(of: "session") { break }
        try await eventually("it is forgotten") { store.subscriberCount == 0 }
    }

    @Test func `An action without a session is ignored`() {
        let store = Store()
        store.dispatch(.requested(SearchRequest(requestID: "r", location: .shinjuku), at: Story.time(0)))
        #expect(store.sessionCount == 0)
    }
}
