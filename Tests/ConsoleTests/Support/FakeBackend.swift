import Console
import EventContract
import LocationSearch
import Synchronization

/// A backend without Kafka, which keeps what it was asked to do.
final class FakeBackend: ConsoleBackend {
    struct State {
        var sent: [SearchRequest] = []
        /// How long an outcome of each was wanted.
        var expiries: [Duration] = []
        var refusal: ConsoleError?
        var list = DeadLetterList(total: 0, pending: 0, letters: [], version: "none")
        var redriven: Set<DeadLetterList.Position> = []
        var controls = ControlList(orders: [], providers: ["hotpepper"])
        var choices: [PauseChoice] = []
        var pictures: [String: Picture] = [:]
        /// The URLs that were asked for.
        var fetched: [String] = []
    }
    let state = Mutex(State())

    func send(_ request: SearchRequest, at time: EventTime, expiry: EventTime) async throws(ConsoleError) {
        let refusal = state.withLock { state in
            if state.refusal == nil {
                state.sent.append(request)
                state.expiries.append(expiry.duration(since: time))
            }
            return state.refusal
        }
        if let refusal { throw refusal }
    }

    func deadLetters(limit: Int) async throws(ConsoleError) -> DeadLetterList { state.withLock { $0.list } }

    func redrive(
        _ letters: Set<DeadLetterList.Position>, ofVersion version: String
    ) async throws(ConsoleError) -> DeadLetterList.Redriven {
        let isCurrent = state.withLock { state in
            guard state.list.version == version else { return false }
            state.redriven = letters
            return true
        }
        guard isCurrent else { throw ConsoleError(.changed, "there are other dead letters by now") }
        return DeadLetterList.Redriven(redriven: letters.count, deleted: 0)
    }

    func controls() async throws(ConsoleError) -> ControlList { state.withLock { $0.controls } }

    func control(_ choice: PauseChoice) async throws(ConsoleError) -> ControlResult {
        state.withLock { $0.choices.append(choice) }
        return ControlResult(taken: 2, workers: 3)
    }

    func metrics() async -> String { "locsearch_group_readable 1\n" }

    func picture(at url: String) async -> Picture? {
        state.withLock { state in
            state.fetched.append(url)
            return state.pictures[url]
        }
    }
}
