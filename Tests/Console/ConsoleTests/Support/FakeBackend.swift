import Console
import EventContract
import LocationSearch
import Synchronization

/// A backend without Kafka, which records its calls.
final class FakeBackend: ConsoleBackend {
    struct State {
        var sent: [SearchRequest] = []
        /// The expiry of each request.
        var expiries: [Duration] = []
        var refusal: ConsoleError?
        /// The version of the dead letters, and their list.
        var (version, list) = ("none", "{}")
        /// The last query of a page.
        var query: DeadLetterQuery?
        var redriven: [RedriveMark: [UInt8]?] = [:]
        var (expiry, again) = (nil as Duration?, false)
        var report = RedriveReport(chosen: 0, wentBefore: 0, deleted: 0, wait: .seconds(60))
        var lives: [String: RequestLives] = [:]
        var controls = #"{"orders":[],"providers":["hotpepper"]}"#
        var choices: [PauseChoice] = []
        var pictures: [String: Picture] = [:]
        /// True while reads of controls and letters wait.
        var isHeld = false
        /// The current number of such reads, and the largest one.
        var (underWay, mostUnderWay) = (0, 0)
        /// The requested URLs.
        var fetched: [String] = []
    }
    let state = Mutex(State())

    func send(_ request: SearchRequest, at time: WallTime, expiry: WallTime) async throws(ConsoleError) {
        let refusal = state.withLock { state in
            if state.refusal == nil {
                state.sent.append(request)
                state.expiries.append(expiry.duration(since: time))
            }
            return state.refusal
        }
        if let refusal { throw refusal }
    }

    func lives(of id: String) async throws(ConsoleError) -> RequestLives {
        let (lives, refusal) = state.withLock { ($0.lives[id], $0.refusal) }
        if let refusal { throw refusal }
        return lives ?? RequestLives(id: id, lives: [], readings: [])
    }

    func deadLetters(_ query: DeadLetterQuery) async throws(ConsoleError) -> [UInt8] {
        state.withLock { state in
            state.query = query
            return Array(state.list.utf8)
        }
    }

    /// Counts a Kafka query, and waits while a test holds the queries.
    private func passGate() async {
        state.withLock { state in
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
        }
        while state.withLock({ $0.isHeld }) { try? await Task.sleep(for: .milliseconds(2)) }
        state.withLock { $0.underWay -= 1 }
    }

    func deadLetter(at position: RedriveMark) async throws(ConsoleError) -> [UInt8] {
        await passGate()
        guard position == .init(partition: 1, offset: 7) else { throw ConsoleError(.notFound, "it is gone") }
        return Array(#"{"reason":"invalid-request"}"#.utf8)
    }

    /// Accepts one value as a request, and no other.
    func judge(_ value: [UInt8], ofLetterAt position: RedriveMark) async throws(ConsoleError) -> SearchError? {
        value == Array("right".utf8) ? nil : .invalid("location.latitude", expected: "a number from -90 to 90")
    }

    func redrive(
        _ choice: RedriveChoice
    ) async throws(ConsoleError) -> (id: Int, report: RedriveReport) {
        let report = state.withLock { state -> RedriveReport? in
            guard state.version == choice.version else { return nil }
            (state.redriven, state.expiry, state.again) = (choice.letters, choice.expiry, choice.again)
            state.report.chosen = choice.letters.count
            return state.report
        }
        guard let report else { throw ConsoleError(.changed, "the topic was made anew") }
        return (1, report)
    }

    func redriveReport(_ id: Int) -> RedriveReport? { id == 1 ? state.withLock { $0.report } : nil }

    func controls() async throws(ConsoleError) -> [UInt8] {
        await passGate()
        return state.withLock { Array($0.controls.utf8) }
    }

    func control(_ choice: PauseChoice) async throws(ConsoleError) -> (taken: Int, workers: Int) {
        state.withLock { $0.choices.append(choice) }
        return (taken: 2, workers: 3)
    }

    func metrics() async -> String { "locsearch_group_readable 1\n" }

    func picture(at url: String) async -> Picture? {
        state.withLock { state in
            state.fetched.append(url)
            return state.pictures[url]
        }
    }
}
