@testable import EventContract
import LocationSearch
import TestSupport
import Testing

@testable import SessionState

struct StoreBoundsTests {
    private let time = VirtualTime()

    private func store(idle: Duration = .seconds(60), sessions: Int = 100) -> Store {
        let configuration = StoreConfiguration(idleTime: idle, maxSessions: sessions)
        return Store(configuration, now: { [time] in time.now })
    }

    /// A search of a session that found the given number of places.
    private func found(_ places: Int, session: String, request: String = "r") -> Action {
        let list = Places((0..<places).map { .named("\($0)") })
        return .outcome(
            OutcomeEvent(
                requestID: request, operation: "search", sessionID: session, body: .completed(.init(places: list)),
                receivedAt: Story.time(1)))
    }

    @Test func `An idle session is removed`() {
        let store = store()
        store.dispatch(found(1, session: "one"))
        time.run(for: .seconds(59))
        store.dispatch(found(1, session: "other"))
        #expect(store.state(of: "one").list != nil)

        time.run(for: .seconds(1))
        #expect(store.state(of: "one") == SessionState(), "its time is over, whether or not its memory is free yet")
        store.removeExpired()
        #expect(store.sessionCount == 1)
    }

    @Test func `A session in use is kept`() {
        let store = store()
        for number in 0..<10 {
            store.dispatch(found(1, session: "one", request: "r\(number)"))
            time.run(for: .seconds(59))
        }
        #expect(store.state(of: "one").revision == 10)
    }

    @Test func `A session with a subscriber is kept until it has left`() {
        let store = store(sessions: 1)
        store.dispatch(found(1, session: "one"))
        let subscriber = Task(executorPreference: time) { for await _ in store.updates(of: "one") {} }
        time.run(for: .seconds(600))
        #expect(store.subscriberCount == 1)
        store.dispatch(found(1, session: "other"))
        #expect(store.state(of: "one").list != nil, "neither time nor number removes it")

        subscriber.cancel()
        time.settle()
        #expect(store.subscriberCount == 0)
        #expect(store.state(of: "one").list != nil, "its idle time begins when the last subscriber leaves")
        time.run(for: .seconds(60))
        store.removeExpired()
        #expect(store.sessionCount == 0)
    }

    @Test func `Above the limit of sessions, the one idle longest is removed`() {
        let store = store(sessions: 3)
        for session in ["a", "b", "c"] {
            store.dispatch(found(1, session: session))
            time.run(for: .seconds(1))
        }
        store.dispatch(found(2, session: "a", request: "again"))
        store.dispatch(found(1, session: "d"))

        #expect(store.sessionCount == 3)
        #expect(store.state(of: "b") == SessionState())
        #expect(store.state(of: "a").list != nil && store.state(of: "d").list != nil)
    }

    /// An error whose message has the given number of bytes.
    private func failed(bytes: Int, session: String, request: String, at time: Int64 = 1) -> Action {
        let failure = OutcomeEvent.Failure(
            code: "timeout", message: String(repeating: "x", count: bytes), isRetryable: true)
        return .outcome(
            OutcomeEvent(
                requestID: request, operation: "search", sessionID: session, body: .failed(failure),
                receivedAt: Story.time(time)))
    }

    @Test func `A session of long texts stays within its bytes`() {
        var state = SessionState()
        for number in 0..<200 {
            let request = SearchRequest(
                requestID: "r\(number)", location: .shinjuku, pageToken: String(repeating: "t", count: 4096),
                sessionID: "session")
            Reducer.reduce(&state, .requested(request, at: Story.time(Int64(number))))
            Reducer.reduce(&state, failed(bytes: 60_000, session: "session", request: "r\(number)", at: Int64(number)))
            #expect(state.byteCount <= 1 << 20)
        }
        #expect(state.byteCount > 1 << 19, "it is used, too")
        #expect(state.exchanges.all.last?.requestID == "r199")
    }

    @Test func `Steps of a request are not kept, and the account of a budget counts`() {
        var failure = OutcomeEvent.Failure(code: "rate-limited", message: "m", isRetryable: true)
        failure.account = String(repeating: "x", count: 5000)
        var event = OutcomeEvent(requestID: "r", sessionID: "session", body: .failed(failure))
        event.steps = OutcomeEvent.Steps(text: Array("topic 12; call hotpepper 0+61 ok".utf8))
        var state = SessionState()
        for _ in 0..<2 { Reducer.reduce(&state, .outcome(event)) }
        #expect(state.exchanges.all.map { $0.outcome?.steps } == [nil])
        #expect(state.byteCount > 5000)
    }

    @Test func `The newest request is kept, however long it is`() {
        var state = SessionState(limits: SessionLimits(bytes: 1000))
        Reducer.reduce(&state, failed(bytes: 10, session: "session", request: "old", at: 1))
        Reducer.reduce(&state, failed(bytes: 100_000, session: "session", request: "new", at: 2))
        #expect(state.exchanges.all.map(\.requestID) == ["new"])
        #expect(state.error?.requestID == "new")
    }

    @Test func `Above the limit of bytes, idle sessions are removed`() {
        let store = Store(StoreConfiguration(maxBytes: 250_000), now: { [time] in time.now })
        for session in ["a", "b", "c"] {
            store.dispatch(failed(bytes: 100_000, session: session, request: "r"))
            time.run(for: .seconds(1))
        }
        #expect(store.sessionCount == 2)
        #expect(store.state(of: "a") == SessionState())
        #expect(store.state(of: "c").error != nil)
    }

    @Test func `A session's name counts, and a removed session leaves no bytes`() {
        var table = SessionTable(StoreConfiguration(idleTime: .seconds(60), maxBytes: 1_000_000))
        for number in 0..<100 {
            let session = String(repeating: "s", count: 50_000) + "\(number)"
            table.dispatch(failed(bytes: 1000, session: session, request: "r"), session: session, at: time.now)
            table.dispatch(found(10, session: session, request: "q"), session: session, at: time.now)
            #expect(table.byteCount <= 1_000_000)
        }
        #expect(table.count > 1)

        time.run(for: .seconds(60))
        table.removeExpired(at: time.now)
        #expect((table.count, table.byteCount) == (0, 0))
    }

    @Test func `A long session drops its oldest requests`() {
        var state = SessionState(limits: SessionLimits(requests: 5, unrequestedOutcomes: 2))
        for number in 0..<100 {
            let request = SearchRequest(requestID: "r\(number)", location: .shinjuku, sessionID: "session")
            Reducer.reduce(&state, .requested(request, at: Story.time(Int64(number))))
        }
        #expect(state.inFlight.map(\.requestID) == (95..<100).map { "r\($0)" })
        #expect(state.exchanges.all.count == 5)
    }

    @Test func `The results of older searches are dropped`() {
        var story = Story()
        for number in 0..<20 {
            story.search("r\(number)")
            story.finds("r\(number)", (0..<10).map { .named("\($0)") })
        }
        #expect(story.state.exchanges.all.reduce(0) { $0 + ($1.result?.places.count ?? 0) } == 10)
        #expect(story.state.exchanges.all.count == 20)
    }
}
